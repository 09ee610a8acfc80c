import type { InviteCreated, Invites } from '../../client/vault/wire.ts';
import { answerInto, field, notDone } from './answer.ts';
import type { Api } from './api.ts';
import { confirmed } from './confirm.ts';
import { make, say } from './dom.ts';
import { copyable } from './lists/copy.ts';
import { moment } from './lists/moment.ts';
import { createTable, stateMark } from './lists/table.ts';
import { mayAct } from './role.ts';
import type { View } from './shell.ts';

type Invite = Invites['invites'][number];

const DAY_SECONDS = 86_400;

const STATES = {
  live: { look: 'good', text: 'Live' },
  used: { look: 'unused', text: 'Used up' },
  expired: { look: 'unused', text: 'Expired' },
  revoked: { look: 'bad', text: 'Revoked' },
} as const;

/** Invites: the newest hundred, each with Revoke, and a form that makes one. */
export function createInvites(api: Api): Pick<View, 'open' | 'refresh'> {
  const said = make('output', { id: 'invites-answer' });
  const note = make('p', { class: 'note', id: 'invites-note' });
  const list = make('div', { class: 'scroll', id: 'invites-list' });
  const form = formOf();
  let shown = '';
  const refresh = async (): Promise<void> => {
    const { registration, invites } = (await api.get('invites')) as Invites;
    const isAsked = registration === 'invite';
    say(note, isAsked ? 'Who registers needs one.' : `REGISTRATION is ${registration}: nobody is asked for one.`);
    const text = JSON.stringify([mayAct(), invites]);
    if (text === shown) return;
    shown = text;
    const table = tableOf((one) => void answerInto(said, () => revoke(one)));
    table.show(invites);
    list.replaceChildren(invites.length === 0 ? make('p', { class: 'empty' }, 'No invite yet.') : table.element);
  };
  const revoke = async ({ id }: Invite): Promise<Node> => {
    const isSure = await confirmed({
      title: `Revoke invite ${id}?`,
      text: 'Nobody registers by it any more. Who was registered by it stays. This cannot be undone.',
      action: 'Revoke the invite',
    });
    if (!isSure) return notDone();
    await api.post('invites/revoke', { id });
    await refresh();
    return make('p', { class: 'done' }, `Invite ${id} is revoked.`);
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const identifier = field(form, 'identifier');
    const uses = Number(field(form, 'uses'));
    const asked = { uses, expires_in: Number(field(form, 'days')) * DAY_SECONDS, ...(identifier && { identifier }) };
    void answerInto(said, async () => {
      const { token } = (await api.post('invites', asked)) as InviteCreated;
      await refresh();
      const words = 'Shown this once. The app adds it to its link to /authorize as &invite=';
      return make('div', { class: 'done' }, make('p', {}, words), copyable(token, 'invite'));
    });
  });
  return {
    open({ body }) {
      if (!body.contains(form)) body.append(note, form, said, list);
    },
    refresh: () => refresh().catch((error) => answerInto(list, () => Promise.reject(error))),
  };
}

function formOf(): HTMLFormElement {
  const number = (name: string, label: string, value: string, max: string) =>
    make(
      'label',
      {},
      `${label} `,
      make('input', { type: 'number', name, value, min: '1', max, required: '', id: `invites-${name}` }),
    );
  return make(
    'form',
    { class: 'toolbar for-operators', id: 'invites', 'aria-label': 'Make an invite' },
    number('uses', 'People', '1', '10000'),
    number('days', 'Days', '7', '365'),
    make(
      'label',
      { class: 'grow' },
      make('span', { class: 'sr' }, 'For whom'),
      make('input', { name: 'identifier', autocomplete: 'off', placeholder: 'For anybody, or alice@example.com' }),
    ),
    make('button', { type: 'submit' }, 'Make an invite'),
  );
}

function tableOf(revoke: (one: Invite) => void) {
  return createTable<Invite>({
    caption: 'Invites, the newest first',
    first: {
      name: 'invite',
      cell: ({ id, status }) => (status === 'live' && mayAct() ? `Revoke ${id}` : `Invite ${id}`),
    },
    columns: [
      { name: 'state', cell: ({ status }) => stateMark(STATES[status]) },
      { name: 'used', cell: ({ used, uses }) => `${used} of ${uses}` },
      { name: 'for', cell: ({ identifier }) => identifier ?? 'anybody' },
      { name: 'until', cell: ({ expires_at }) => moment(expires_at) },
    ],
    open: (one) => one.status === 'live' && mayAct() && revoke(one),
  });
}
