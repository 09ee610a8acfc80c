// Draws who says what to whom, one row below the other, as an SVG in both themes. The same diagram is the same bytes.

/** A row: something that one party sends another, does itself, or a part that begins. */
export type Row =
  | { readonly from: number; readonly to: number; readonly says: string; readonly isAnswer?: boolean }
  | { readonly at: number; readonly does: string }
  | { readonly part: string };

/** A diagram: its parties from left to right, and what happens from top to bottom. */
export interface Sequence {
  readonly title: string;
  /** The description for screen readers. */
  readonly about: string;
  readonly parties: readonly { readonly name: string; readonly icon: Icon }[];
  readonly rows: readonly Row[];
}

/** Lines on 20 × 20. */
const ICONS = {
  person: 'M10 10a4 4 0 1 0 0-8 4 4 0 0 0 0 8M3 18c0-4 3-6 7-6s7 2 7 6',
  vault: 'M3 3h14v14H3zM10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6M10 7V5M10 15v-2M7 10H5M15 10h-2',
  chain: 'M3 6h8v8H3zM9 3h8v8h-3M9 3v3',
  app: 'M2 4h16v12H2zM2 8h16M5 6h.01M7.5 6h.01',
  server: 'M3 3h14v6H3zM3 11h14v6H3zM6 6h.01M6 14h.01',
  shop: 'M3 8v9h14V8M2 8l2-5h12l2 5M8 17v-5h4v5M2 8h16',
  key: 'M7 13a4 4 0 1 1 3.5-6H18v3h-2v3h-3v-3h-2.5A4 4 0 0 1 7 13M6.5 9h.01',
} as const;

/** The picture of a party. */
export type Icon = keyof typeof ICONS;

const WIDTH = 760;
const SIDE = 16;
const HEAD = { y: 16, height: 44 };
const ROW = 46;
const LETTER = 6.7;

/** Colours by role, light and dark: those of `assets/design/tokens.css`. */
const COLORS = [
  ['.ground', 'fill', '#ffffff', '#151a2b'],
  ['.box', 'fill', '#f5f6fa', '#0c0f1a'],
  ['.box', 'stroke', '#d5d9e6', '#2b324b'],
  ['.life', 'stroke', '#d5d9e6', '#2b324b'],
  ['.note', 'fill', '#e8ebfd', '#222a52'],
  ['.arrow,.icon', 'stroke', '#3146c8', '#96a5ff'],
  ['.tip,.count', 'fill', '#3146c8', '#96a5ff'],
  ['.number', 'fill', '#ffffff', '#0c0f1a'],
  ['text', 'fill', '#12162b', '#eef0fb'],
  ['.part', 'fill', '#525a75', '#a6aecb'],
] as const;

/** The SVG. Throws for a text that has no room. */
export function drawSequence({ title, about, parties, rows }: Sequence): string {
  const step = (WIDTH - 2 * SIDE) / parties.length;
  const xOf = (party: number) => Math.round(SIDE + step * (party + 0.5));
  const top = HEAD.y + HEAD.height + 14;
  const height = top + rows.length * ROW + 12;
  let count = 0;
  const drawn = rows.map((row, i) => {
    const y = top + i * ROW + ROW - 14;
    if ('part' in row) return partRow(row.part, y);
    const number = ++count;
    if ('does' in row) return noteRow(row.does, xOf(row.at), y, number);
    return arrowRow(row, [xOf(row.from), xOf(row.to)], y, number);
  });
  const heads = parties.map(({ name, icon }, i) => headOf(name, icon, xOf(i), Math.round(step - 16)));
  const lives = parties.map(
    (_, i) => `<path class="life" d="M${xOf(i)} ${HEAD.y + HEAD.height}V${height - 14}" stroke-dasharray="2 4"/>`,
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title about">`,
    `<title id="title">${escapeText(title)}</title>`,
    `<desc id="about">${escapeText(about)}</desc>`,
    `<style>${style()}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}" rx="12"/>`,
    ...lives,
    ...heads,
    ...drawn,
  ].join('\n')}\n</svg>\n`;
}

function style(): string {
  const rules = (theme: 2 | 3) => COLORS.map((one) => `${one[0]}{${one[1]}:${one[theme]}}`).join('');
  const font = "font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
  const plain = `text{${font};text-anchor:middle}.name{font-weight:650;text-anchor:start}.number{font-size:11px;font-weight:650}`;
  const lines = '.life,.arrow,.icon{fill:none;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}';
  const part = '.part{font-size:12px;font-weight:650;text-anchor:start}';
  return `${plain}${lines}${rules(2)}${part}@media (prefers-color-scheme:dark){${rules(3)}}`;
}

function headOf(name: string, icon: Icon, x: number, width: number): string {
  const text = name.length * 7.6;
  const left = Math.round(x - (text + 28) / 2);
  if (text + 40 > width) throw new Error(`no room for ${name}`);
  return [
    `<rect class="box" x="${x - width / 2}" y="${HEAD.y}" width="${width}" height="${HEAD.height}" rx="8"/>`,
    `<path class="icon" transform="translate(${left} ${HEAD.y + 12})" d="${ICONS[icon]}"/>`,
    `<text class="name" x="${left + 28}" y="${HEAD.y + 27}">${escapeText(name)}</text>`,
  ].join('');
}

function partRow(part: string, y: number): string {
  return [
    `<path class="life" d="M${SIDE} ${y - 16}H${WIDTH - SIDE}"/>`,
    `<rect class="ground" x="${SIDE}" y="${y - 8}" width="${Math.round(part.length * 6.6) + 8}" height="18"/>`,
    `<text class="part" x="${SIDE + 4}" y="${y + 5}">${escapeText(part)}</text>`,
  ].join('');
}

function noteRow(does: string, x: number, y: number, number: number): string {
  const width = Math.round(does.length * LETTER) + 58;
  const left = Math.min(Math.max(x - width / 2, SIDE), WIDTH - SIDE - width);
  if (left < SIDE) throw new Error(`no room for ${does}`);
  return [
    `<rect class="note" x="${left}" y="${y - 16}" width="${width}" height="30" rx="6"/>`,
    numberAt(number, left + 18, y - 1),
    `<text x="${left + width / 2 + 13}" y="${y + 4}">${escapeText(does)}</text>`,
  ].join('');
}

type Arrow = Extract<Row, { readonly says: string }>;

function arrowRow({ says, isAnswer }: Arrow, [from, to]: readonly [number, number], y: number, number: number): string {
  const way = Math.sign(to - from);
  const room = Math.abs(to - from) - 44;
  const width = says.length * LETTER;
  if (width > room) throw new Error(`no room for ${says}: ${Math.round(width)} of ${room}`);
  const middle = (from + to) / 2 + way * 6;
  return [
    `<path class="arrow" d="M${from} ${y}H${to - way * 2}"${isAnswer ? ' stroke-dasharray="5 4"' : ''}/>`,
    `<path class="tip" d="M${to} ${y}l${-way * 9}-5v10z"/>`,
    numberAt(number, from, y),
    `<rect class="ground" x="${Math.round(middle - width / 2) - 3}" y="${y - 23}" width="${Math.round(width) + 6}" height="16"/>`,
    `<text x="${middle}" y="${y - 10}">${escapeText(says)}</text>`,
  ].join('');
}

function numberAt(number: number, x: number, y: number): string {
  return `<circle class="count" cx="${x}" cy="${y}" r="10"/><text class="number" x="${x}" y="${y + 4}">${number}</text>`;
}

function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
}
