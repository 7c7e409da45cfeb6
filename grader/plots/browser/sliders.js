// Sliders that choose among frames; a frame holds the points of every moving line.
function gpSliders(spec) {
  const stage = gpStage(spec.id);
  if (!stage) return;
  gpMake("div", { class: "gp-title", text: spec.title }, stage);
  const controls = gpMake("div", { class: "gp-controls" }, stage);
  const chosen = spec.sliders.map((slider) => slider.start);
  const panels = spec.panels.map((panel) => gpPanel(panel, spec.x, stage, panel.alt));

  function draw() {
    const frame = spec.sliders.reduce((index, slider, k) => index * slider.values.length + chosen[k], 0);
    let line = 0;
    panels.forEach((panel, p) => {
      spec.panels[p].moving.forEach((_, k) => panel.set(k, spec.frames[frame][line++]));
    });
  }

  spec.sliders.forEach((slider, k) => {
    const label = gpMake("label", {}, controls);
    label.append(slider.name + " ");
    const input = gpMake("input", { ...GP_OWN_KEYS, type: "range", min: 0, max: slider.values.length - 1, step: 1,
                                    value: slider.start, "aria-label": slider.name }, label);
    const shown = gpMake("output", {}, label);
    const choose = () => {
      chosen[k] = Number(input.value);
      const text = gpNumber(slider.values[chosen[k]]);
      shown.textContent = text;
      input.setAttribute("aria-valuetext", text);
      draw();
    };
    input.addEventListener("input", choose);
    choose();
  });
  if (spec.look) gpMake("p", { class: "gp-look", text: spec.look }, stage);
}
