# One image for a replica and for Locust.
FROM python:3.12-slim
WORKDIR /lab
COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY app app
COPY lab lab
COPY locustfiles locustfiles
COPY scenarios scenarios
ENV PYTHONPATH=/lab
RUN useradd --no-create-home --uid 10001 lab
USER lab
