// Saves a picture as a PNG of twice its size, for a slide, in the colours of the page. lines: texts below it, as its title and its source.
function savePng(picture, name, lines = []) {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d"), wide = 2 * Math.max(picture.naturalWidth, 850);
  const tall = Math.round(wide * picture.height / picture.width), step = 34, colours = getComputedStyle(document.body);
  canvas.width = wide;
  canvas.height = tall + step * lines.length;
  pen.fillStyle = colours.backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0, wide, tall);
  pen.fillStyle = colours.color;
  pen.font = "22px sans-serif";
  lines.forEach((line, number) => pen.fillText(line, 20, tall + step * number + 22, wide - 40));
  Object.assign(document.createElement("a"), { href: canvas.toDataURL("image/png"), download: `${name}.png` }).click();
}
