// Two marbles on one landscape, each with its own path; play, step, reset.
function gpMarbles(spec) {
  const stage = gpStage(spec.id);
  if (!stage) return;
  gpMake("div", { class: "gp-title", text: spec.title }, stage);
  const controls = gpMake("div", { class: "gp-controls" }, stage);
  const row = gpMake("div", { class: "gp-row" }, stage);
  const last = spec.paths[0].x.length - 1;
  const marbles = spec.panels.map((panel, k) => {
    const drawn = gpPanel(panel, spec.x, row, panel.alt);
    const ball = gpMake("circle", { r: 7, class: "gp-marble",
                                    style: `fill:var(--gp-${spec.paths[k].role})` }, drawn.layer);
    const says = gpMake("div", { class: "gp-says" }, row.children[k]);
    return { ...drawn, ball, says, path: spec.paths[k] };
  });
  let step = 0;
  let timer = null;

  function draw() {
    for (const { set, sx, sy, ball, says, path } of marbles) {
      set(0, { x: path.x.slice(0, step + 1), y: path.y.slice(0, step + 1) });
      ball.setAttribute("cx", sx(path.x[step]));
      ball.setAttribute("cy", sy(path.y[step]));
      const slope = path.slope[step] === null ? "None" : gpNumber(path.slope[step]);
      says.textContent = `step ${step}: x = ${gpNumber(path.x[step])}, gradient ${slope}`;
    }
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  function forward() {
    if (step < last) step += 1;
    if (step >= last || !stage.isConnected) pause();
    draw();
  }
  const button = (text, act) => {
    const node = gpMake("button", { ...GP_OWN_KEYS, type: "button", text }, controls);
    node.addEventListener("click", act);
    return node;
  };
  const play = button("Play", () => {
    if (timer !== null) return pause();
    if (step >= last) step = 0;
    play.textContent = "Pause";
    timer = setInterval(forward, 200);
  });
  button("Step", () => { pause(); forward(); });
  button("Reset", () => { pause(); step = 0; draw(); });
  draw();
  if (spec.look) gpMake("p", { class: "gp-look", text: spec.look }, stage);
}
