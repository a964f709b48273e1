"""What a page tries to fetch from elsewhere, and what its policy then says."""

ELSEWHERE = "http://192.0.2.1"  # a network for documentation, RFC 5737
TRIES = f"""new Promise(done => {{
  const held = []; document.addEventListener("securitypolicyviolation", event => held.push(event.effectiveDirective));
  fetch("{ELSEWHERE}/a").catch(() => 0);
  new Image().src = "{ELSEWHERE}/b.png";
  const script = document.createElement("script"); script.src = "{ELSEWHERE}/c.js"; document.head.append(script);
  const frame = document.createElement("iframe"); frame.src = "{ELSEWHERE}/d"; document.body.append(frame);
  const wait = () => held.length > 3 ? done(held.sort()) : setTimeout(wait, 20); wait(); }})"""
HELD = ["connect-src", "frame-src", "img-src", "script-src-elem"]
