// The picture of an environment: drawn as it comes, pixels kept sharp where they are large.

import { h } from "./dom.js";

/** Shows pictures and texts in an element of class "stage". */
export class PictureBox {
  constructor(box) {
    this.box = box;
    this.canvas = h("canvas", { width: 300, height: 300 });
    this.text = h("pre", { hidden: true });
    box.prepend(this.canvas, this.text);
    this.shown = 0;
    this.asked = 0;
  }

  /** Draws a picture; one that was overtaken by a newer one is left out. */
  async show(picture) {
    const turn = ++this.asked;
    if (picture.kind === "text/plain") {
      this.text.textContent = await picture.blob.text();
      this.canvas.hidden = true;
      this.text.hidden = false;
      return;
    }
    const image = await createImageBitmap(picture.blob);
    if (turn < this.shown) return;
    this.shown = turn;
    this.canvas.hidden = false;
    this.text.hidden = true;
    if (this.canvas.width !== image.width || this.canvas.height !== image.height) {
      this.canvas.width = image.width;
      this.canvas.height = image.height;
    }
    this.canvas.classList.toggle("pixels", image.width * 1.5 < this.box.clientWidth);
    this.canvas.getContext("2d").drawImage(image, 0, 0);
    image.close();
  }
}
