import { timeOf } from './chart-words.ts';
import { draw, make, say } from './dom.ts';
import type { Drawn, HistoryPoint } from './history.ts';
import { bars, ground, line, niceTop, ticks } from './scale.ts';

/** One chart: figure, drawing with axis and times, a value under the pointer and by the arrow keys, and a table. */
export interface ChartCard {
  readonly card: HTMLElement;
  show(drawn: Drawn, points: readonly HistoryPoint[]): void;
}

const SIZE = { width: 320, height: 100 };
/** Room above, for the times below, and between the axis and its numbers. */
const [TOP, BELOW, GAP] = [8, 20, 6];

/** Creates the card of a chart. */
export function createChartCard(name: string): ChartCard {
  const title = make('h2', { id: `chart-${name}` });
  const figure = make('p', { class: 'figure' });
  const detail = make('p', { class: 'detail' });
  const svg = draw('svg', { 'aria-hidden': 'true' });
  const tip = make('p', { class: 'tip', hidden: '' });
  const plot = make(
    'div',
    { class: 'plot', role: 'slider', tabindex: '0', 'aria-labelledby': title.id, 'aria-valuemin': '0' },
    svg,
    tip,
  );
  const table = make('details', {}, make('summary', {}, 'As a table'));
  const pointer = createPointer(plot, tip);
  let now: readonly [Drawn, readonly HistoryPoint[]] | undefined;
  table.addEventListener('toggle', () => now && fillTable(table, ...now));
  return {
    card: make('li', { class: `chart ${name}`, 'data-chart': name }, title, figure, detail, plot, table),
    show(drawn, points) {
      now = [drawn, points];
      say(title, drawn.title);
      say(figure, drawn.figure);
      say(detail, drawn.detail);
      const axis = axisOf(drawn);
      svg.setAttribute('viewBox', `0 0 ${axis.left + SIZE.width} ${TOP + SIZE.height + BELOW}`);
      svg.replaceChildren(...drawing(drawn, points, axis));
      pointer.show(axis.left, (index) => `${timeOf(points[index] ?? { at: '' })}: ${drawn.say(index)}`, points.length);
      fillTable(table, drawn, points);
    },
  };
}

/** The top of an axis, its numbers, and the room that the widest of them takes. */
interface Axis {
  readonly top: number;
  readonly labels: readonly (readonly [number, string])[];
  readonly left: number;
}

function axisOf({ values, below = [], format }: Drawn): Axis {
  const top = niceTop(Math.max(1, ...[...values, ...below].map((value) => value ?? 0)));
  const labels = ticks(top).map((value) => [value, format(value)] as const);
  const widest = Math.max(...labels.map(([, text]) => widthOf(text)));
  return { top, labels, left: Math.max(LEFT_MIN, Math.ceil(widest) + 2 * GAP) };
}

/** The same for all charts, and enough for most of them, so that they line up. */
const LEFT_MIN = 44;

/** The width of a text of the drawing. A drawing that is hidden could not be asked. */
function widthOf(text: string): number {
  pen ??= document.createElement('canvas').getContext('2d');
  if (!pen) return 8 * text.length;
  // The font of `.plot text` in charts.css.
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}
let pen: CanvasRenderingContext2D | null = null;

function drawing(
  { name, values, below = [] }: Drawn,
  points: readonly HistoryPoint[],
  { top, labels, left }: Axis,
): SVGElement[] {
  const axis = labels.map(([value, text]) => {
    const y = TOP + SIZE.height * (1 - value / top);
    return draw(
      'g',
      { class: 'tick' },
      ...(value === 0 ? [] : [draw('path', { d: `M${left} ${y}h${SIZE.width}` })]),
      draw('text', { x: String(left - GAP), y: String(y + 4), 'text-anchor': 'end' }, text),
    );
  });
  const times = TIMES.map(([part, anchor]) => {
    const point = points[Math.round(part * (points.length - 1))];
    const x = left + part * SIZE.width;
    return draw(
      'text',
      { x: String(x), y: String(TOP + SIZE.height + 15), 'text-anchor': anchor },
      point ? timeOf(point) : '',
    );
  });
  const shapes =
    name === 'latency'
      ? [
          draw('path', { class: 'median', d: line(below, top, SIZE) }),
          draw('path', { class: 'line', d: line(values, top, SIZE) }),
        ]
      : bars(values, top, SIZE).map(({ x, y, width, height }) =>
          draw('rect', { x: String(x), y: String(y), width: String(width), height: String(height) }),
        );
  const known = name === 'latency' ? points.map(({ requests }) => requests) : values;
  const inner = draw(
    'g',
    { transform: `translate(${left} ${TOP})` },
    ...shapes,
    draw('path', { class: 'ground', d: ground(known, SIZE) }),
    draw('path', { class: 'cursor', d: '' }),
  );
  return [...axis, ...times, inner];
}

const TIMES = [
  [0, 'start'],
  [0.5, 'middle'],
  [1, 'end'],
] as const;

/** The value under the pointer, or of the step that the arrow keys went to. */
function createPointer(plot: HTMLElement, tip: HTMLElement) {
  let [index, count, room] = [-1, 0, 0];
  let words: (index: number) => string = () => '';
  let isShown = false;
  const show = (): void => {
    plot.setAttribute('aria-valuemax', String(Math.max(0, count - 1)));
    plot.setAttribute('aria-valuenow', String(index));
    plot.setAttribute('aria-valuetext', words(index));
    tip.hidden = !isShown;
    const cursor = plot.querySelector('.cursor');
    const x = ((index + 0.4) * SIZE.width) / Math.max(1, count);
    cursor?.setAttribute('d', isShown ? `M${x} 0V${SIZE.height}` : '');
    if (!isShown) return;
    say(tip, words(index));
    const part = (room + x) / (room + SIZE.width);
    tip.style.insetInlineStart = `${100 * part}%`;
    tip.style.translate = `${-100 * part}%`;
  };
  const go = (to: number): void => {
    index = Math.min(count - 1, Math.max(0, to));
    isShown = true;
    show();
  };
  const hide = (): void => {
    isShown = false;
    show();
  };
  plot.addEventListener('pointermove', ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect();
    const inside = ((clientX - left) / width) * (room + SIZE.width) - room;
    go(Math.floor((inside / SIZE.width) * count));
  });
  plot.addEventListener('pointerleave', hide);
  plot.addEventListener('blur', hide);
  plot.addEventListener('keydown', (event) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: index - 1,
      ArrowRight: index + 1,
      Home: 0,
      End: count,
    };
    const to = steps[event.key];
    if (event.key === 'Escape') hide();
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  return {
    show(left: number, next: (index: number) => string, length: number): void {
      room = left;
      words = next;
      if (count !== length) index = length - 1;
      count = length;
      show();
    },
  };
}

/** Only what is open is filled; the newest step first. */
function fillTable(table: HTMLDetailsElement, drawn: Drawn, points: readonly HistoryPoint[]): void {
  table.querySelector('.scroll')?.remove();
  if (!table.open) return;
  const rows = points.map((point, i) => make('tr', {}, make('td', {}, timeOf(point)), make('td', {}, drawn.say(i))));
  const head = make('tr', {}, ...['time', drawn.title].map((name) => make('th', { scope: 'col' }, name)));
  const body = make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows.toReversed()));
  table.append(make('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': drawn.title }, body));
}
