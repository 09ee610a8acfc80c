import type { OperatorAdded, Operators } from '../../client/vault/wire.ts';
import { answerInto, field, notDone } from './answer.ts';
import type { Api } from './api.ts';
import { confirmed } from './confirm.ts';
import { make } from './dom.ts';
import { copyable } from './lists/copy.ts';
import { moment } from './lists/moment.ts';
import { createTable, stateMark } from './lists/table.ts';
import type { View } from './shell.ts';

type Operator = Operators['operators'][number];

const STATES = {
  live: { look: 'good', text: 'Live' },
  expired: { look: 'unused', text: 'Expired' },
} as const;

/** Operators with names, each with Revoke, and a form that adds one: for the operator secret alone. */
export function createOperators(api: Api): Pick<View, 'open' | 'refresh'> {
  const said = make('output', { id: 'operators-answer' });
  const note = make('p', { class: 'note' }, NOTE);
  const list = make('div', { class: 'scroll', id: 'operators-list' });
  const all = make('button', { type: 'button', class: 'danger for-root', id: 'operators-all' }, 'Revoke all …');
  const form = formOf();
  let shown = '';
  const refresh = async (): Promise<void> => {
    const { operators } = (await api.get('operators')) as Operators;
    const text = JSON.stringify(operators);
    // A person on one of the rows keeps it under the finger.
    if (text === shown || list.contains(document.activeElement)) return;
    shown = text;
    const table = tableOf((one) => void answerInto(said, () => revoke({ name: one.name }, `the token of ${one.name}`)));
    table.show(operators);
    all.hidden = operators.length === 0;
    list.replaceChildren(operators.length === 0 ? make('p', { class: 'empty' }, 'Nobody but root.') : table.element);
  };
  const revoke = async (ended: { readonly name: string } | { readonly all: true }, what: string): Promise<Node> => {
    const isSure = await confirmed({
      title: `Revoke ${what}?`,
      text: 'The next request is refused, and open streams end within a second. This cannot be undone.',
      action: 'Revoke',
    });
    if (!isSure) return notDone();
    await api.post('operators/revoke', ended);
    document.getElementById('title-operators')?.focus();
    await refresh();
    return make('p', { class: 'done' }, `Revoked: ${what}.`);
  };
  all.addEventListener(
    'click',
    () => void answerInto(said, () => revoke({ all: true }, 'the tokens of all operators')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const asked = { name: field(form, 'name'), role: field(form, 'role'), days: Number(field(form, 'days')) };
    void answerInto(said, async () => {
      const { token, operator } = (await api.post('operators', asked)) as OperatorAdded;
      form.reset();
      await refresh();
      const words = `The token of ${operator.name}, shown this once. It signs in here in place of the secret.`;
      return make('div', { class: 'done' }, make('p', {}, words), copyable(token, 'token'));
    });
  });
  return {
    open({ body }) {
      if (!body.contains(form)) body.append(note, form, said, list, all);
    },
    refresh: () => refresh().catch((error) => answerInto(list, () => Promise.reject(error))),
  };
}

const NOTE =
  'A viewer sees counts, states, settings and masked rows; an operator does all but this. Events of what they do hold the name.';

function formOf(): HTMLFormElement {
  const role = make(
    'select',
    { name: 'role', id: 'operators-role' },
    ...['viewer', 'operator'].map((name) => make('option', { value: name }, name)),
  );
  const days = { type: 'number', name: 'days', id: 'operators-days', value: '90', min: '1', max: '3650', required: '' };
  const name = { name: 'name', id: 'operators-name', required: '', autocomplete: 'off', spellcheck: 'false' };
  return make(
    'form',
    { class: 'toolbar for-root', id: 'operators', 'aria-label': 'Add an operator' },
    make(
      'label',
      { class: 'grow' },
      make('span', { class: 'sr' }, 'Name'),
      make('input', { ...name, placeholder: 'Name, such as ada' }),
    ),
    make('label', {}, 'Role ', role),
    make('label', {}, 'Days ', make('input', days)),
    make('button', { type: 'submit' }, 'Add an operator'),
  );
}

function tableOf(revoke: (one: Operator) => void) {
  return createTable<Operator>({
    caption: 'Operators by name',
    first: { name: 'operator', cell: ({ name }) => `Revoke ${name}` },
    columns: [
      { name: 'role', cell: ({ role }) => role },
      { name: 'state', cell: ({ status }) => stateMark(STATES[status]) },
      { name: 'since', cell: ({ created_at }) => moment(created_at) },
      { name: 'until', cell: ({ expires_at }) => moment(expires_at) },
    ],
    open: revoke,
  });
}
