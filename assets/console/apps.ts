import type { ConsoleApps } from '../../client/vault/wire.ts';
import type { Api } from './api.ts';
import { type Child, make } from './dom.ts';
import { formatCount, nounOf } from './format.ts';
import { moment } from './lists/moment.ts';
import { readInto, readTable } from './read-table.ts';
import type { View } from './shell.ts';
import { keyTable } from './signing-keys.ts';

type App = ConsoleApps['apps'][number];
type Refusals = ConsoleApps['others']['refusals'];

/** The apps that people sign in to, with the sign-ins and refusals of a day, and the keys of their ID tokens. */
export function createApps(api: Api): Pick<View, 'open' | 'refresh'> {
  return readInto('apps', async () => {
    const { enabled, apps, others, signing_keys } = (await api.get('apps')) as ConsoleApps;
    if (!enabled) return { state: '', table: make('p', { class: 'empty' }, OFF) };
    const refusals = [...apps, others].flatMap((one) => one.refusals);
    const [signIns, refused] = [apps.reduce((all, { signins }) => all + signins, 0), sumOf(refusals)];
    const rows = apps.map(rowOf);
    const strangers = others.refusals.length > 0 ? [STRANGERS(others.refusals)] : [];
    return {
      state: `${numberOf(signIns, 'sign-in')} and ${numberOf(refused, 'refusal')} in 24 hours, of all processes`,
      table: make(
        'div',
        {},
        readTable('Apps', COLUMNS, [...rows, ...strangers]),
        make('h2', {}, 'Keys of ID tokens'),
        signing_keys.length === 0
          ? make('p', { class: 'empty' }, 'None yet: the first sign-in makes one.')
          : keyTable('Keys of ID tokens', signing_keys),
      ),
    };
  });
}

const OFF = 'No app signs people in here: CLIENTS is not set.';
const COLUMNS = ['app', 'sign-ins', 'last', 'refused', 'client', 'redirect URIs'] as const;

/** Who names no app of `CLIENTS` has no row of their own: anybody may make names up. */
const STRANGERS = (refusals: Refusals): readonly Child[] => [
  make('i', {}, 'No such app'),
  '–',
  '–',
  refusalsOf(refusals),
  'not in CLIENTS',
  '–',
];

function rowOf(app: App): readonly Child[] {
  const { client_id, name, signins, last_signin_at, refusals, redirect_uris } = app;
  return [
    make('span', {}, make('b', {}, client_id), name === client_id ? '' : ` ${name}`),
    formatCount(signins),
    moment(last_signin_at),
    refusalsOf(refusals),
    kindOf(app),
    listOf(redirect_uris),
  ];
}

/** The stage of a refusal as the operator knows it. */
const STAGES = { link: 'its link', page: 'the page', token: '/token' } as const;

function refusalsOf(refusals: Refusals): Child {
  if (refusals.length === 0) return '0';
  return listOf(refusals.map(({ stage, reason, count }) => `${formatCount(count)} × ${reason}, at ${STAGES[stage]}`));
}

function kindOf({ kind, secrets, pkce, sector, client_id }: App): string {
  return [
    kind === 'public' ? 'public' : `with ${secrets === 1 ? 'a secret' : `${secrets} secrets`}`,
    pkce === 'required' ? 'PKCE' : 'PKCE optional',
    ...(sector === client_id ? [] : [`sector ${sector}`]),
  ].join(', ');
}

function listOf(texts: readonly string[]): HTMLElement {
  return make('ul', { class: 'plain-list' }, ...texts.map((text) => make('li', {}, text)));
}

function numberOf(count: number, one: string): string {
  return `${formatCount(count)} ${nounOf(count, one)}`;
}

function sumOf(refusals: Refusals): number {
  return refusals.reduce((all, { count }) => all + count, 0);
}
