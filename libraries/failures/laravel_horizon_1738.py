"""Laravel Horizon: who dies between SETNX and EXPIRE leaves the lock behind for ever.

**Idea** Two commands acquire it.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="laravel/horizon#1738",
    link="https://github.com/laravel/horizon/issues/1738",
    what="The key stays without an expiry, and nobody gets the lock again. Laravel itself had the same fault: "
    "laravel/framework#31166. symfony/symfony#31426 reports another fault in PHP: if many requests "
    "wait, each lock expires at once.",
    package="laravel/horizon",
    version="5",
    language="PHP",
    promises={},
    not_run="no package of Horizon, and only later ones of Laravel and Symfony, can be had where the lab was made. Such a "
    "lock needs a worker of your own.",
)
