import type { Api } from '../api.ts';
import { make } from '../dom.ts';
import type { Place } from '../shell.ts';
import { copy, shortened } from './copy.ts';
import { registrationFacts } from './detail.ts';
import type { Drawer, DrawerContent } from './drawer.ts';
import { createList, type List, type ListKind } from './list.ts';
import type { MenuItem } from './menu.ts';
import { moment } from './moment.ts';
import { personPart } from './person.ts';
import type { Registration, RegistrationDetail } from './rows.ts';
import { stateMark } from './table.ts';
import { undoPart } from './undo.ts';
import { kindOf, registrationState } from './words.ts';

const VIEW = '#/registrations';

/** The list of registrations. The one that is open is in the address, as `id`. */
export function createRegistrations(api: Api, drawer: Drawer, sayState: (text: string) => void): List {
  let place: Place | undefined;
  const setId = (id: number | undefined): void => {
    const [view, text] = location.hash.split('?');
    // The drawer closes as well when the browser goes back to another view.
    if (view !== VIEW) return;
    const query = new URLSearchParams(text);
    if (id === undefined) query.delete('id');
    else query.set('id', String(id));
    place?.setQuery(query);
  };
  const open = (id: number): void => {
    setId(id);
    drawer.show(read(id), () => setId(undefined));
  };
  const read = async (id: number, note?: Node): Promise<DrawerContent> => {
    const detail = (await api.get('registrations/detail', { id: String(id) })) as RegistrationDetail;
    const { channel, identifier } = detail.registration;
    const undone = (said: Node): void => {
      drawer.show(read(id, said));
      list.reload();
    };
    const facts = registrationFacts(detail, open);
    const erased = (said: Node): void => {
      drawer.show(Promise.resolve({ title: 'Erased', details: said, json: {} }));
      list.reload();
    };
    const parts = [personPart(api, { registration: id }, erased), undoPart(api, detail.registration, undone)];
    const details = make('div', {}, note ?? null, facts, ...parts);
    return { title: `${kindOf(channel)} ${identifier}`, details, json: detail };
  };
  const list = createList(api, listKind(api, open), sayState);
  return {
    ...list,
    open(to) {
      place = to;
      const id = to.query.get('id') ?? '';
      list.open(to);
      if (/^[1-9]\d{0,14}$/.test(id)) open(Number(id));
    },
  };
}

function listKind(api: Api, open: (id: number) => void): ListKind<Registration> {
  return {
    name: 'registrations',
    one: 'registration',
    caption: 'Registrations, the newest first',
    example: 'alice@example.com',
    howToFill: 'No registration yet. One appears here when an app, or the page /authorize, registers a person.',
    lookUps: [
      ['identifier', 'Identifier'],
      ['credentialId', 'Credential'],
      ['did', 'DID'],
    ],
    statuses: [
      ['submitted', 'Waiting for its block'],
      ['confirmed', 'Confirmed'],
      ['failed', 'Failed'],
    ],
    // Codes, sessions and counts are stored also of a person without a registration.
    unfound: ({ by, value }) => (by === 'identifier' ? [personPart(api, { identifier: value })] : []),
    first: { name: 'identifier', cell: ({ identifier }) => identifier },
    columns: [
      { name: 'state', cell: (one) => stateMark(registrationState(one)) },
      { name: 'kind', cell: ({ channel }) => kindOf(channel) },
      { name: 'app', cell: ({ app }) => app },
      { name: 'DID', cell: ({ did }) => shortened(did) },
      { name: 'registered', cell: ({ registeredAt }) => moment(registeredAt) },
    ],
    open: ({ id }) => open(id),
    menu: (one) => menuOf(one, open),
  };
}

function menuOf({ id, did, txHash, smartAccount }: Registration, open: (id: number) => void): readonly MenuItem[] {
  return [
    { label: 'Open', act: () => open(id) },
    { label: 'Copy DID', act: () => void copy(did) },
    ...(txHash === null ? [] : [{ label: 'Copy transaction', act: () => void copy(txHash) }]),
    ...(smartAccount === null ? [] : [{ label: 'Copy account', act: () => void copy(smartAccount) }]),
  ];
}
