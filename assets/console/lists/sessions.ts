import type { Api } from '../api.ts';
import { definitions, make } from '../dom.ts';
import { copy, shortened } from './copy.ts';
import { sessionFacts } from './detail.ts';
import type { Drawer } from './drawer.ts';
import { createList, type List } from './list.ts';
import { moment } from './moment.ts';
import type { Session } from './rows.ts';
import { stateMark } from './table.ts';
import { kindOf, sessionState } from './words.ts';

/** The list of sessions. */
export function createSessions(api: Api, drawer: Drawer, sayState: (text: string) => void): List {
  const open = (session: Session): void => {
    const link = make('a', { href: registrationsOf(session) }, 'Registrations of this DID');
    const details = make('div', { class: 'groups' }, definitions(sessionFacts(session)), make('p', {}, link));
    const title = `${kindOf(session.channel)} ${session.identifier}`;
    drawer.show(Promise.resolve({ title, details, json: session }));
  };
  return createList<Session>(
    api,
    {
      name: 'sessions',
      one: 'session',
      caption: 'Sessions, the newest first',
      example: 'alice@example.com',
      howToFill:
        'No session yet. One opens when an app names an identifier and a DID; it is linked once that is registered.',
      lookUps: [['identifier', 'Identifier']],
      statuses: [
        ['open', 'Open'],
        ['linked', 'Linked'],
        ['lapsed', 'Lapsed'],
      ],
      first: { name: 'identifier', cell: ({ identifier }) => identifier },
      columns: [
        { name: 'state', cell: (one) => stateMark(sessionState(one)) },
        { name: 'kind', cell: ({ channel }) => kindOf(channel) },
        { name: 'app', cell: ({ app }) => app },
        { name: 'DID', cell: ({ did }) => shortened(did) },
        { name: 'opened', cell: ({ createdAt }) => moment(createdAt) },
        { name: 'lapses', cell: ({ expiresAt }) => moment(expiresAt) },
      ],
      open,
      menu: (one) => [
        { label: 'Open', act: () => open(one) },
        { label: 'Copy DID', act: () => void copy(one.did) },
        { label: 'Registrations of this DID', act: () => location.assign(registrationsOf(one)) },
      ],
    },
    sayState,
  );
}

function registrationsOf({ did }: Session): string {
  return `#/registrations?${new URLSearchParams({ did })}`;
}
