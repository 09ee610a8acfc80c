import { explain, field, onSubmit, render } from './answer.ts';
import type { Api } from './api.ts';
import { byId, make } from './dom.ts';
import { formatCount, formatDate, formatValue } from './format.ts';

interface Use {
  readonly kind: string;
  readonly key: string;
  readonly max: number;
  readonly used: number;
  readonly reached: boolean;
  readonly resets_at: string | null;
}

interface Answer {
  readonly kinds: readonly string[];
  readonly limits: readonly Use[];
}

/** The fullest buckets of the stored limits, and the form that shows and resets one. Call the result to refresh. */
export function createLimits(api: Api): () => Promise<void> {
  const kinds = byId('limits-kind', HTMLSelectElement);
  const key = byId('limits-key', HTMLInputElement);
  const choose = (use: Use): void => {
    kinds.value = use.kind;
    // A masked key must be typed by someone who knows it.
    key.value = use.key.includes('***') ? '' : use.key;
    (key.value === '' && !use.kind.endsWith('-per-day') ? key : byId('limits-release')).focus();
  };
  const refresh = async (): Promise<void> => {
    const list = byId('limits-list');
    const focused = list.contains(document.activeElement);
    try {
      const answer = (await api.get('limits')) as Answer;
      if (kinds.options.length === 0)
        kinds.append(...answer.kinds.map((kind) => make('option', { value: kind }, kind)));
      // A person about to press one of the buttons keeps it under the finger.
      if (!focused) list.replaceChildren(tableOf(answer.limits, choose));
    } catch (error) {
      list.replaceChildren(make('p', { class: 'failure' }, explain(error)));
    }
  };
  onSubmit('limits', (form, button) => {
    const named = field(form, 'key');
    const limit = { kind: field(form, 'kind'), ...(named === '' ? {} : { key: named }) };
    if (button !== 'release') return async () => render(((await api.get('limits', limit)) as Answer).limits);
    return async () => {
      const { cleared } = (await api.post('limits/clear', limit)) as { cleared: number };
      void refresh();
      return make(
        'p',
        { class: 'done' },
        `Reset: ${formatCount(cleared)} no longer counted. The audit channel has a record.`,
      );
    };
  });
  return refresh;
}

function tableOf(limits: readonly Use[], choose: (use: Use) => void): Node {
  if (limits.length === 0) return make('p', { class: 'empty' }, 'No limit has counted anything.');
  const rows = limits.toSorted((a, b) => Number(b.reached) - Number(a.reached) || b.used / b.max - a.used / a.max);
  return make(
    'table',
    {},
    make('caption', { class: 'sr' }, 'Use of each limit'),
    make('thead', {}, make('tr', {}, ...HEADINGS.map((name) => make('th', { scope: 'col' }, name)))),
    make('tbody', {}, ...rows.map((use) => rowOf(use, choose))),
  );
}

const HEADINGS = ['limit', 'of', 'used', 'until', 'action'];

function rowOf(use: Use, choose: (use: Use) => void): HTMLElement {
  const button = make('button', { type: 'button', class: 'small' }, 'Choose');
  button.setAttribute('aria-label', `Choose ${use.kind} ${use.key}`);
  button.addEventListener('click', () => choose(use));
  return make(
    'tr',
    use.reached ? { class: 'reached' } : {},
    make('td', { 'data-name': 'limit' }, use.kind),
    make('td', { 'data-name': 'of' }, use.key === '' ? 'the whole vault' : formatValue(use.key)),
    make(
      'td',
      { 'data-name': 'used' },
      `${formatCount(use.used)} of ${formatCount(use.max)}${use.reached ? ' – reached' : ''}`,
    ),
    make('td', { 'data-name': 'until' }, use.resets_at === null ? endOf(use.kind) : formatDate(use.resets_at)),
    make('td', { 'data-name': 'action' }, button),
  );
}

/** What ends a use that time does not end. */
function endOf(kind: string): string {
  return kind === 'guesses-per-identifier' ? 'a code verifies' : 'its DID ends';
}
