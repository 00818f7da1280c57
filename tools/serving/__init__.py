"""Several servers of the app behind one address, for a class: `make serve WORKERS=4`.

Caddy stands before them and keeps each visitor on one server (a cookie says which). What visitors share, runs
and uploads, lies in folders that all servers see; everything else comes back from the link and from what the
browser keeps, so that a server which dies costs its visitors a reconnect and nothing else.
"""
