import { type Child, definitions, make } from '../dom.ts';
import { nounOf } from '../format.ts';
import { copyable } from './copy.ts';
import { evidenceFacts, pageOf } from './evidence.ts';
import { wholeMoment } from './moment.ts';
import type { Registration, RegistrationDetail, Session } from './rows.ts';
import { stateMark } from './table.ts';
import { DELIVERIES, kindOf, RELAYS, reasonOf, registrationState, sessionState } from './words.ts';

type Fact = readonly [string, Child];

/** The facts of a registration, in groups; `onOther` opens another one. */
export function registrationFacts(detail: RegistrationDetail, onOther: (id: number) => void): HTMLElement {
  const { registration, relay, session, codes, others } = detail;
  return make(
    'div',
    { class: 'groups' },
    group('Registration', definitions(mainFacts(detail))),
    group('Evidence', definitions(evidenceFacts(detail))),
    group('On the chain', definitions(chainFacts(detail))),
    relay && group("The vault's call", definitions(relayFacts(relay))),
    group('Session', session ? definitions(sessionFacts(session)) : 'None is kept.'),
    group('Codes', codesOf(detail)),
    others.length === 0
      ? null
      : group(`Others of the same ${kindOf(registration.channel).toLowerCase()}`, othersOf(others, onOther)),
    codes.length >= 20 ? make('p', { class: 'note' }, 'The newest 20 codes are shown.') : null,
  );
}

/** The facts of a session. */
export function sessionFacts(session: Session): readonly Fact[] {
  const { identifier, channel, app, did, createdAt, expiresAt } = session;
  return [
    ['State', stateMark(sessionState(session))],
    [kindOf(channel), identifier],
    ['App', app],
    ['Opened', wholeMoment(createdAt)],
    ...(expiresAt === null ? [] : [['Lapses', wholeMoment(expiresAt)] as const]),
    ['DID', copyable(did, 'DID')],
  ];
}

function mainFacts({ registration, verifiedAt }: RegistrationDetail): readonly Fact[] {
  const { id, channel, identifier, app, did, credentialId, registeredAt, holder, proven } = registration;
  const kind = kindOf(channel);
  return [
    ['State', stateMark(registrationState(registration))],
    [kind, identifier],
    [`Holds its ${kind.toLowerCase()}`, holder ? 'Yes' : 'No'],
    ['Proven by its passkey', proven ? 'Yes' : 'No'],
    ['Last verified', verifiedAt === null ? 'Never' : wholeMoment(verifiedAt)],
    ['Registered', wholeMoment(registeredAt)],
    ['App', app],
    ['Number', String(id)],
    ['DID', copyable(did, 'DID')],
    ['Credential', copyable(credentialId, 'Credential')],
  ];
}

function chainFacts({ registration, watch, chain }: RegistrationDetail): readonly Fact[] {
  const { txHash, blockNumber, final, smartAccount, status } = registration;
  const at = (kind: 'tx' | 'address', value: string) => pageOf(chain, kind, value);
  const unwatched = status === 'submitted' ? 'None: the relay watches it' : 'None: it is settled';
  const isFinal = final ? 'Yes: no re-organisation takes it back' : 'Not yet';
  return [
    ['Chain', `${chain.name} (${chain.chainId})`],
    ['Transaction', txHash === null ? 'Not signed yet' : copyable(txHash, 'Transaction', at('tx', txHash))],
    ['Block', blockNumber === null ? 'None yet' : String(blockNumber)],
    ...(status === 'confirmed' ? [['Final', isFinal] as const] : []),
    [
      'Account',
      smartAccount === null ? 'Not known yet' : copyable(smartAccount, 'Account', at('address', smartAccount)),
    ],
    ['Next look', watch.nextCheckAt === null ? unwatched : wholeMoment(watch.nextCheckAt)],
  ];
}

function relayFacts({
  status,
  failure,
  signer,
  nonce,
  queuedAt,
}: NonNullable<RegistrationDetail['relay']>): readonly Fact[] {
  return [
    ['State', failure === null ? (RELAYS[status] ?? status) : `Failed: ${reasonOf(failure)}`],
    ['Queued', wholeMoment(queuedAt)],
    ...(signer === null ? [] : [['Signed by', copyable(signer, 'Signer')] as const]),
    ...(nonce === null ? [] : [['Nonce', String(nonce)] as const]),
  ];
}

function codesOf({ codes, registration }: RegistrationDetail): Child {
  if (registration.channel === 'handle') return 'A handle has no codes.';
  if (codes.length === 0) return 'None in the last day. Codes are kept for a day.';
  const items = codes.map(({ sentAt, delivery, attempts, verifiedAt }) =>
    make(
      'li',
      {},
      wholeMoment(sentAt),
      make('br'),
      [
        DELIVERIES[delivery] ?? delivery,
        `${attempts} ${nounOf(attempts, 'check')}`,
        verifiedAt === null ? 'not verified' : 'verified',
      ].join(' · '),
    ),
  );
  return make('ol', { class: 'plain-list' }, ...items);
}

function othersOf(others: readonly Registration[], onOther: (id: number) => void): HTMLElement {
  const items = others.map((other) => {
    const button = make('button', { type: 'button', class: 'link' }, `Registration ${other.id}`);
    button.addEventListener('click', () => onOther(other.id));
    return make('li', {}, button, ' ', stateMark(registrationState(other)));
  });
  return make('ul', { class: 'plain-list' }, ...items);
}

function group(title: string, content: Child): HTMLElement {
  return make('section', { class: 'group' }, make('h3', {}, title), content);
}
