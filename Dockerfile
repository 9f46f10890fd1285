# One image for the replicas, for Locust and for the judge: they share nearly all of it.
FROM python:3.12-slim AS packages
COPY requirements/run.txt .
# before the sources: these layers are built again only when a pinned version changes; every package is a wheel
RUN python3 -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --only-binary :all: --require-hashes -r run.txt \
 && /venv/bin/pip uninstall --yes pip \
 && printf '#!/bin/sh\nexec python3 -m lab "$@"\n' >/venv/bin/lab && chmod 755 /venv/bin/lab

FROM python:3.12-slim
COPY --from=packages /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONPATH=/lab PYTHONUNBUFFERED=1 HOME=/tmp MPLCONFIGDIR=/tmp
WORKDIR /lab
COPY scenarios scenarios
COPY locustfiles locustfiles
COPY app app
COPY lab lab
# compiled now, because the root file system is read-only later; in a run, reports is mounted
RUN python3 -m compileall -q app lab locustfiles && mkdir --mode 777 reports
ENV PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
CMD ["python3", "-m", "lab.containers.agent", "replica"]
