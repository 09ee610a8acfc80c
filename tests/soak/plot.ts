import { CURVES, type Sample } from './samples.ts';

const [WIDTH, HEIGHT, LEFT, TOP, GAP] = [900, 170, 70, 40, 45];

/** The curves of a soak as an SVG: one panel each, from 0, over the minutes. */
export function plot(title: string, samples: readonly Sample[]): string {
  const minutes = Math.max(samples.at(-1)?.minute ?? 0, Number.EPSILON);
  const panels = CURVES.map(({ member, name }, at) => {
    const values = samples.map((one) => one[member]);
    const top = roundUp(Math.max(...values, 1));
    const y = TOP + at * (HEIGHT + GAP);
    const points = samples.map(({ minute }, i) => {
      const [px, py] = [LEFT + (minute / minutes) * WIDTH, y + HEIGHT * (1 - (values[i] ?? 0) / top)];
      return `${px.toFixed(1)},${py.toFixed(1)}`;
    });
    const marks = [0, 0.5, 1].map((share) => {
      const py = y + HEIGHT * (1 - share);
      return (
        `<line x1="${LEFT}" x2="${LEFT + WIDTH}" y1="${py}" y2="${py}" stroke="#ccc"/>` +
        `<text x="${LEFT - 8}" y="${py + 4}" text-anchor="end">${Math.round(top * share).toLocaleString('en')}</text>`
      );
    });
    return (
      `<g><text x="${LEFT}" y="${y - 8}">${name}</text>${marks.join('')}` +
      `<polyline fill="none" stroke="#06c" stroke-width="1.5" points="${points.join(' ')}"/></g>`
    );
  });
  const bottom = TOP + CURVES.length * (HEIGHT + GAP);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const label = (minutes * share).toFixed(minutes < 10 ? 1 : 0);
    return `<text x="${LEFT + WIDTH * share}" y="${bottom - 22}" text-anchor="middle">${label} min</text>`;
  });
  const words = title.replace(/[<&]/g, ' ');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 40} ${bottom}" font-family="sans-serif" ` +
    `font-size="12"><title>${words}</title><rect width="100%" height="100%" fill="#fff"/>` +
    `<text x="${LEFT}" y="18" font-size="14">${words}</text>${panels.join('')}${ticks.join('')}</svg>\n`
  );
}

/** The next of 1, 2, 5, 10, 20 … */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
}
