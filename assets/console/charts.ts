import { byId, draw, make, say } from './dom.ts';
import { formatCount, formatCounts, formatDuration } from './format.ts';
import { HISTORY_POINTS_MAX } from './limits.ts';
import type { Overview } from './overview.ts';
import { bars, line, niceTop } from './scale.ts';
import { appended, COUNTED, type Counts, type Point, pointBetween, total } from './series.ts';

type Counted = 'requests' | 'sends' | 'verifications' | 'registrations' | 'errors';

const TITLES: Readonly<Record<Counted | 'latency', string>> = {
  requests: 'Requests',
  sends: 'Codes sent',
  verifications: 'Verifications',
  registrations: 'Registrations',
  errors: 'Errors',
  latency: 'Latency, 95th percentile',
};

const SIZE = { width: 240, height: 48 };

/** Draws the vault's counters: each reading adds the growth since the one before. */
export function createCharts(): { readonly add: (overview: Overview) => void; readonly clear: () => void } {
  const cards = new Map(Object.entries(TITLES).map(([name, title]) => [name, createCard(name, title)]));
  byId('charts').replaceChildren(...[...cards.values()].map(({ card }) => card));
  let before: Overview | undefined;
  let points: readonly Point[] = [];
  return {
    add(overview) {
      if (before) points = appended(points, pointBetween(before, overview), HISTORY_POINTS_MAX);
      before = overview;
      for (const [name, card] of cards) {
        if (name === 'latency') card.show(latencyOf(points));
        else card.show(countedOf(name as Counted, points, overview));
      }
    },
    clear() {
      before = undefined;
      points = [];
    },
  };
}

interface Shown {
  readonly figure: string;
  readonly detail: string;
  /** The drawing in words. */
  readonly label: string;
  readonly parts: readonly SVGElement[];
}

function createCard(name: string, title: string) {
  const figure = make('p', { class: 'figure' });
  const detail = make('p', { class: 'detail' });
  const svg = draw('svg', { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, preserveAspectRatio: 'none', role: 'img' });
  return {
    card: make('li', { class: `chart ${name}`, 'data-chart': name }, make('h2', {}, title), figure, svg, detail),
    show(shown: Shown) {
      say(figure, shown.figure);
      say(detail, shown.detail);
      svg.setAttribute('aria-label', `${title}: ${shown.label}`);
      svg.replaceChildren(...shown.parts);
    },
  };
}

function countedOf(name: Counted, points: readonly Point[], { counters }: Overview): Shown {
  const values = points.map((point) => point[name]);
  const counts = wordsOf(name, counters);
  const figure = formatCount(figureOf(name, counters));
  const recent = values.reduce((sum, value) => sum + value, 0);
  return {
    figure,
    detail: formatCounts(counts) || 'none since the vault started',
    label: `${figure} since the vault started, ${formatCount(recent)} ${spanOf(points)}`,
    parts: bars(values, HISTORY_POINTS_MAX, SIZE).map(({ x, y, width, height }) =>
      draw('rect', { x: String(x), y: String(y), width: String(width), height: String(height) }),
    ),
  };
}

function figureOf(name: Counted, counters: Overview['counters']): number {
  if (name === 'requests') return total(counters.requests);
  return name === 'errors' ? (counters.requests['5xx'] ?? 0) : (counters[name][COUNTED[name]] ?? 0);
}

/** What else there was. Refusals are the caller's doing; they stand beside the vault's own failures. */
function wordsOf(name: Counted, counters: Overview['counters']): Counts {
  if (name !== 'requests' && name !== 'errors') return counters[name];
  const { '2xx': answered = 0, '3xx': unchanged = 0, '4xx': refused = 0, '5xx': failed = 0 } = counters.requests;
  return name === 'errors' ? { failed, refused } : { answered, unchanged, refused, failed };
}

function latencyOf(points: readonly Point[]): Shown {
  const latest = points.findLast(({ p95 }) => p95 !== null);
  const top = niceTop(Math.max(1, ...points.map(({ p95 }) => p95 ?? 0)));
  const figure = latest?.p95 == null ? '–' : formatDuration(latest.p95);
  return {
    figure,
    detail: latest?.p50 == null ? 'nothing answered yet' : `median ${formatDuration(latest.p50)}`,
    label: `${figure} when last measured, scale to ${formatDuration(top)}, ${spanOf(points)}`,
    parts: [
      draw('path', {
        class: 'median',
        d: line(
          points.map(({ p50 }) => p50),
          HISTORY_POINTS_MAX,
          top,
          SIZE,
        ),
      }),
      draw('path', {
        d: line(
          points.map(({ p95 }) => p95),
          HISTORY_POINTS_MAX,
          top,
          SIZE,
        ),
      }),
    ],
  };
}

function spanOf(points: readonly Point[]): string {
  const [first, last] = [points.at(0), points.at(-1)];
  return first && last && first !== last
    ? `in the last ${formatDuration(last.atMs - first.atMs)}`
    : 'since the page opened';
}
