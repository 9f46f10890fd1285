"""The shelf of servers: redis, gunicorn, nginx; each file starts one."""
