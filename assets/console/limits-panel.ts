import { explain, field, notDone, onSubmit } from './answer.ts';
import type { Api } from './api.ts';
import { confirmed } from './confirm.ts';
import { byId, definitions, make } from './dom.ts';
import { formatCount, formatDuration, formatValue } from './format.ts';
import { limitName, limitWords } from './limit-names.ts';
import { moment, wholeMoment } from './lists/moment.ts';
import { createTable, stateMark } from './lists/table.ts';

interface Use {
  readonly kind: string;
  readonly key: string;
  readonly max: number;
  readonly used: number;
  readonly reached: boolean;
  readonly window_seconds: number;
  readonly resets_at: string | null;
}

interface Answer {
  readonly kinds: readonly string[];
  readonly limits: readonly Use[];
}

/** The fullest buckets of the stored limits, and the form that shows and resets one. Call the result to refresh. */
export function createLimits(api: Api): () => Promise<void> {
  const kinds = byId('limits-kind', HTMLSelectElement);
  const list = byId('limits-list');
  const table = createUses((use) => {
    const key = byId('limits-key', HTMLInputElement);
    kinds.value = use.kind;
    // A masked key must be typed by someone who knows it.
    key.value = use.key.includes('***') ? '' : use.key;
    (key.value === '' && !isWhole(use) ? key : byId('limits-release')).focus();
  });
  let shown = '';
  const refresh = async (): Promise<void> => {
    if (list.childElementCount === 0) {
      table.wait();
      list.replaceChildren(table.element);
    }
    try {
      const { kinds: names, limits } = (await api.get('limits')) as Answer;
      if (kinds.options.length === 0)
        kinds.append(...names.map((kind) => make('option', { value: kind }, limitName(kind))));
      // A person on one of the rows keeps it under the finger.
      const text = JSON.stringify(limits);
      if (text === shown || list.contains(document.activeElement)) return;
      shown = text;
      table.show(limits.toSorted((a, b) => Number(b.reached) - Number(a.reached) || b.used / b.max - a.used / a.max));
      const nothing = make('p', { class: 'empty' }, 'No limit has counted anything.');
      list.replaceChildren(limits.length === 0 ? nothing : table.element);
    } catch (error) {
      shown = '';
      list.replaceChildren(make('p', { class: 'failure' }, explain(error)));
    }
  };
  onSubmit('limits', (form, button) => {
    const named = field(form, 'key');
    const limit = { kind: field(form, 'kind'), ...(named === '' ? {} : { key: named }) };
    if (button !== 'release') return async () => factsOf(((await api.get('limits', limit)) as Answer).limits);
    return async () => {
      const isSure = await confirmed({
        title: `Reset ${limit.kind}?`,
        text: `What ${named === '' ? 'the whole vault' : named} has used no longer counts, so it may use the limit once more. The audit channel keeps a record. This cannot be undone.`,
        action: 'Reset the limit',
      });
      if (!isSure) return notDone();
      const { cleared } = (await api.post('limits/clear', limit)) as { cleared: number };
      void refresh();
      const said = `Reset: ${formatCount(cleared)} no longer counted. The audit channel has a record.`;
      return make('p', { class: 'done' }, said);
    };
  });
  return refresh;
}

function createUses(choose: (use: Use) => void) {
  return createTable<Use>({
    caption: 'Use of each limit',
    first: { name: 'limit', cell: ({ kind }) => limitWords(kind) },
    columns: [
      { name: 'of', cell: ofWhom },
      { name: 'used', cell: usedOf },
      { name: 'until', cell: (use) => untilOf(use, moment) },
    ],
    open: choose,
    mark: ({ reached }) => (reached ? 'reached' : ''),
  });
}

/** One use, or several, as facts. */
function factsOf(uses: readonly Use[]): Node {
  if (uses.length === 0) return make('p', { class: 'empty' }, 'Nothing is counted.');
  const facts = uses.map((use) =>
    definitions([
      ['Limit', limitName(use.kind)],
      ['Of', ofWhom(use)],
      ['Used', usedOf(use)],
      ...(use.window_seconds > 0 ? [['Within', formatDuration(use.window_seconds * 1000)] as const] : []),
      ['Until', untilOf(use, wholeMoment)],
    ]),
  );
  return make('div', { class: 'groups' }, ...facts);
}

function isWhole({ kind }: Use): boolean {
  return kind.endsWith('-per-day');
}

function ofWhom(use: Use): Node {
  const whom = use.key === '' ? 'the whole vault' : formatValue(use.key);
  return make('span', { class: 'one-line', title: whom }, whom);
}

function usedOf({ used, max, reached }: Use): Node {
  const text = `${formatCount(used)} of ${formatCount(max)}${reached ? ' – reached' : ''}`;
  return stateMark({ look: reached ? 'bad' : used * 2 > max ? 'warn' : 'good', text });
}

function untilOf({ kind, resets_at }: Use, format: (iso: string) => Node): Node | string {
  if (resets_at === null) return 'its DID ends';
  return kind === 'guesses-per-identifier'
    ? make('span', {}, format(resets_at), ', or a code verifies')
    : format(resets_at);
}
