import time, requests, pytest
from tests.browser_fixture import *
pytest_plugins=["tests.browser_fixture"]
def test_x(vertical):
    t=time.time(); r=requests.get(vertical.url,timeout=10); print(r.status_code,time.time()-t)
    import threading; print(threading.enumerate())
    import urllib.request
def test_y(vertical, chromium):
    c=chromium.new_context(); p=c.new_page()
    p.on("requestfinished", lambda r: print("fin",r.url)); p.on("requestfailed", lambda r: print("fail",r.url,r.failure))
    try: p.goto(vertical.url,timeout=8000)
    except Exception as e: print(e)
    print(p.content()[:300])
def test_z(visit):
    p=visit(); p.goto("/",timeout=8000)
