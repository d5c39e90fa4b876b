"""A page that uses every known way to run scripts, load resources, redirect and submit forms."""


def hostile_page(evil: str, text: str = "Words of the page") -> str:
    """Return its HTML. `evil` is the prefix of all URLs that must not be requested: `http://127.0.0.1:8000`."""
    host = evil.partition(":")[2]
    return f"""<!doctype html><html><head><base href="{evil}/"><title>The page</title>
<meta http-equiv=refresh content="0;url={evil}/1"><meta http-equiv="Content-Security-Policy" content="default-src *">
<script>alert(1); fetch("{evil}/fetch"); new Image().src = "{evil}/image"</script><script src="{host}/2.js"></script>
<link rel=stylesheet href="{evil}/3.css"><link rel=prefetch href="{evil}/pre">
<link rel=preload as=image href="{evil}/l">
<link rel=preconnect href="{evil}"><link rel="dns-prefetch" href="{host}"><link rel=icon href="{evil}/icon.png">
<style>@import "{evil}/4.css"; p {{ background: url({evil}/5.png); color: red }}
@font-face {{ font-family: f; src: u\\72l("{evil}/6.woff") }} body {{ font-family: f }}
i {{ content: "</style>" }}</style></head>
<body onload="alert(2)" background="{evil}/7.png"><p onclick="alert(3)"
style="background:URL( '{evil}/8.png' );color:blue">{text}</p>
<img src="{evil}/x.png" onerror="alert(4)" alt="a picture">
<img srcset="{evil}/9.png 2x" src="{evil}/10.png">
<picture><source srcset="{evil}/s.png"><img src="{evil}/t.png"></picture>
<img src="data:image/png;base64,iVBORw0KGgo="><img src="data:image/svg+xml,<svg onload=alert(5)>">
<svg onload="alert(6)"><image href="{evil}/11.png"/><use href="{evil}/u.svg#a"/><script>alert(7)</script></svg>
<math><maction actiontype="statusline#{evil}"><a href="javascript:alert(8)">m</a></maction></math>
<iframe src="{evil}/12.html"></iframe><iframe srcdoc="<script>top.alert(9)</script><img src='{evil}/sd'>"></iframe>
<object data="{evil}/13.swf"></object><embed src="{evil}/e.swf"><applet code="{evil}/a.class"></applet>
<form action="{evil}/14"><input name=q autofocus onfocus=alert(10)><input type=image src="{evil}/i.png">
<button formaction="{evil}/15">Send</button></form><isindex action="{evil}/i">
<video src="{evil}/16.mp4" poster="{evil}/17.png" autoplay></video><audio src="{evil}/18.mp3" autoplay></audio>
<a href="javascript:alert(11)" ping="{evil}/19">one</a> <a href="/other.html" target=_top>two</a>
<a href="#part">three</a> <area href="{evil}/area">
<template><img src="{evil}/20.png"></template><noscript><img src="{evil}/21.png"></noscript>
<noscript><p title="</noscript><img src=x onerror=alert(14)>"></noscript>
<my-card onclick="alert(12)">card</my-card><table background="{evil}/22.png"><tr><td>cell</td></tr></table>
<div id="part" class="x" data-src="{evil}/23.png">end</div><xmp><script>alert(13)</script></xmp>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(15)&gt;">
</body></html>"""
