// Put the parts on the page.

startTheme();
if (data.picture) {
  const figure = document.getElementById("picture-plot");
  if (data.picture.kind === "points") drawPoints(figure, data.picture); else drawBubbles(figure, data.picture);
}
if (data.tree) drawTree(document.getElementById("tree-plot"), data.tree);
makeTable(document.getElementById("table"));
paintSwatches();
document.documentElement.dataset.ready = "yes";
