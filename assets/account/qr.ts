// The encoder of QR codes, a file of its own that pages load when they show one.
import { encode } from 'uqr';

/** Draws a text as a QR code. */
export function draw(svg: SVGElement, text: string): void {
  const { size, data } = encode(text);
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  const cells = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  shape.setAttribute('d', cells.join(''));
  svg.replaceChildren(shape);
}
