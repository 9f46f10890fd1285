# Two images: the replica's, and the lab's, which has Locust and what judges and draws as well.
FROM python:3.12-slim AS replica-packages
WORKDIR /requirements
RUN python3 -m venv --without-pip /venv
COPY requirements/replica.txt .
# before the sources: these layers are built again only when a pinned version changes; every package is a wheel
RUN pip --python /venv/bin/python3 install --no-cache-dir --only-binary :all: --require-hashes -r replica.txt

FROM replica-packages AS lab-packages
COPY requirements/run.txt .
RUN pip --python /venv/bin/python3 install --no-cache-dir --only-binary :all: --require-hashes -r run.txt \
 && printf '#!/bin/sh\nexec python3 -m lab "$@"\n' >/venv/bin/lab && chmod 755 /venv/bin/lab

FROM python:3.12-slim AS python
ENV PATH=/venv/bin:$PATH PYTHONPATH=/lab PYTHONUNBUFFERED=1 HOME=/tmp MPLCONFIGDIR=/tmp
WORKDIR /lab
# a Swarm has no option for it
ENTRYPOINT ["setpriv", "--no-new-privs"]
CMD ["python3", "-m", "lab.containers.agent", "replica"]

FROM python AS replica
COPY --from=replica-packages /venv /venv
COPY app app
COPY lab lab
# compiled now, because the root file system is read-only later
RUN python3 -m compileall -q app lab
ENV PYTHONDONTWRITEBYTECODE=1
USER 10001:10001

FROM python AS lab
COPY --from=lab-packages /venv /venv
COPY scenarios scenarios
COPY locustfiles locustfiles
COPY app app
COPY lab lab
# in a run, reports is mounted
RUN python3 -m compileall -q app lab locustfiles && mkdir --mode 777 reports
ARG LAB_COMMIT
ENV PYTHONDONTWRITEBYTECODE=1 LAB_COMMIT=$LAB_COMMIT
USER 10001:10001
