// The account at a glance: questions to answer, money, keys, recovery, and the rest.

import type { Account } from '../../client/wallet/account.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { amountText } from '../wallet/amount.ts';
import { readToken } from '../wallet/api.ts';
import { spoken, word, wordWith } from '../words/words.ts';
import { type AccountFacts, type Contracts, type Key, readFacts } from './facts.ts';
import { day, daysOf, identicon, left, moment, short, writeAddress } from './format.ts';
import { ask } from './http.ts';
import { isSyncedHere } from './memory.ts';
import type { World } from './operate.ts';
import type { Channel } from './prove.ts';
import { element, make, makeButton, onPress, toggle, write } from './view.ts';

/** A signed-in page: the account, and its state on the chain. */
export interface Signed extends World {
  readonly contracts: Contracts;
  readonly account: Account;
  readonly facts: AccountFacts;
  /** The registration of the passkey in use; undefined if it registered nothing. */
  readonly registration: Registration | undefined;
  /** Whether the vault states that an address is of this account. */
  readonly states: boolean;
}

/** The vault's record of a passkey's registration. */
export interface Registration {
  readonly did: string;
  readonly txHash: Hex;
  /** Proofs of other DIDs for this one's addresses. */
  readonly challenges?: readonly Challenge[];
}

/** An address that another DID has proven, and when it moves there; null until that is known. */
export interface Challenge {
  readonly did: string;
  readonly channel: Channel;
  readonly moves_at: string | null;
}

/** A key as the page shows it. */
export interface ShownKey extends Key {
  readonly name: string;
  readonly isHere: boolean;
  readonly isAddress: boolean;
}

/** The account's keys; one that is not deployed yet has the key that it was made with. */
export function keysOf({ account, facts }: Pick<Signed, 'account' | 'facts'>): ShownKey[] {
  const { x = '0x0', y = '0x0' } = account;
  const first: Key = { index: 0, x, y, addedAt: null, label: null, synced: null };
  const keys = facts.kind === 2 ? facts.keys : [first];
  return keys.map((key) => {
    const isAddress = BigInt(key.y) === 0n;
    const isHere = BigInt(key.x) === BigInt(x) && !isAddress;
    const name =
      key.label ??
      (isAddress
        ? word('name.address')
        : key.index === 0
          ? word('name.first')
          : word('name.numbered', { number: key.index + 1 }));
    return { ...key, synced: key.synced ?? isSyncedHere(key.x), name, isHere, isAddress };
  });
}

/** The line below a key's name. */
export function aboutKey({ isAddress, isHere, synced, addedAt, x }: ShownKey): string {
  const words = [
    isAddress ? short(`0x${x.slice(-40)}`) : isHere ? word('keys.here') : '',
    isAddress || synced === null ? '' : synced ? word('keys.synced') : word('keys.not_synced'),
    addedAt === null ? word('keys.original') : word('keys.added', { day: day(addedAt) }),
  ];
  const text = words.filter((one) => one !== '').join(' · ');
  return text.charAt(0).toLocaleUpperCase(spoken()) + text.slice(1);
}

/** The actions of the page's buttons. */
export interface Actions {
  stop(): void;
  keep(): void;
  release(): void;
  go(hash: string): void;
}

/** Writes the account into the page. */
export function writeHome(signed: Signed, actions: Actions): void {
  const { account, facts, config, contracts } = signed;
  const isSecond = account.kind === 2;
  identicon(element<SVGElement>('icon'), account.address);
  writeAddress(element('address'), account.address);
  write('full', account.address);
  write('did', BigInt(facts.did) === 0n ? word('details.no_did') : (signed.registration?.did ?? facts.did));
  write('network', `${config.chain} (${config.chainId})`);
  write(
    'kind',
    facts.kind === null
      ? word('details.kind_planned', { kind: account.kind })
      : word('details.kind', { kind: account.kind }),
  );
  const keys = keysOf(signed);
  element('keys').replaceChildren(...keys.map((key) => keyRow(key, isSecond, actions)));
  write('keys-words', isSecond ? word('keys.words') : word('keys.only_one'));
  toggle('add', isSecond);
  toggle('state', signed.states);
  toggle('move', !isSecond && contracts.factory2 !== null);
  writeRecovery(signed);
  element('notices').replaceChildren(...noticesOf(signed, keys, actions));
  for (const [id, hash] of [
    ['add', 'add'],
    ['export', 'take'],
    ['state', 'statement'],
    ['guard', 'guard'],
    ['move', 'move'],
    ['unguard', 'unguard'],
    ['contact', 'contact'],
  ] as const) {
    onPress(id, () => actions.go(hash));
  }
}

function keyRow(key: ShownKey, isSecond: boolean, { go }: Actions): HTMLElement {
  const text = make('div', '', make('strong', '', key.name), make('span', 'quiet-text small', aboutKey(key)));
  const row = make('li', '', text);
  if (!isSecond) return row;
  const button = makeButton(word('keys.change'), 'link', () => go(`key=${key.index}`));
  button.setAttribute('aria-label', word('keys.change_this', { name: key.name }));
  row.append(button);
  return row;
}

function writeRecovery({ account, facts, contracts }: Signed): void {
  const { guardian } = facts;
  const isOffered = account.kind === 2 && (guardian !== null || contracts.guardian !== null);
  toggle('recovery-card', isOffered);
  if (!isOffered) return;
  const isOurs = guardian !== null && guardian.address === contracts.guardian;
  const barred = guardian?.barredUntil ? [word('recovery.blocked', { time: moment(guardian.barredUntil) })] : [];
  const words = !guardian
    ? word('recovery.off')
    : isOurs
      ? word('recovery.by_mail', { days: daysOf(guardian.delaySeconds) })
      : word('recovery.by_other', {
          address: short(guardian.address),
          days: daysOf(guardian.delaySeconds),
        });
  write('recovery-words', [words, ...barred].join(' '));
  write('guard', guardian ? word('recovery.change') : word('recovery.set_up'));
  toggle('guard', contracts.guardian !== null);
  toggle('unguard', guardian !== null);
  toggle('contact', isOurs);
}

function noticesOf(signed: Signed, keys: readonly ShownKey[], actions: Actions): HTMLElement[] {
  const { account, facts, contracts, registration } = signed;
  const notices: HTMLElement[] = [];
  const [challenge] = registration?.challenges ?? [];
  if (challenge) notices.push(challengeNotice(challenge, actions));
  if (facts.recovery) notices.push(recoveryNotice(facts.recovery.readyAt, actions));
  if (account.kind === 1 && contracts.factory2 !== null) {
    const words = word('notice.first_kind');
    notices.push(
      notice('', words, word('notice.first_kind_words'), word('notice.first_kind_go'), () => actions.go('move')),
    );
  }
  const [only] = keys;
  if (account.kind === 2 && keys.length === 1 && only?.synced === false) {
    const loss = facts.guardian ? word('notice.one_device_recovery') : word('notice.one_device_nothing');
    const words = word('notice.one_device');
    notices.push(notice('', words, loss, word('keys.add'), () => actions.go('add')));
  }
  return notices;
}

function notice(tone: string, words: string, more: string, button: string, act: () => void): HTMLElement {
  const made = make('section', `notice ${tone}`, make('p', '', make('strong', '', words)), make('p', '', more));
  made.append(makeButton(button, '', act));
  return made;
}

function challengeNotice({ moves_at: time }: Challenge, { keep, release }: Actions): HTMLElement {
  const words = time === null ? word('challenge.soon') : word('challenge.words', { time: moment(time) });
  const made = notice('bad', word('challenge.title'), words, word('challenge.keep'), keep);
  made.append(makeButton(word('challenge.release'), 'link', release));
  made.setAttribute('role', 'alert');
  return made;
}

function recoveryNotice(readyAt: string, { stop }: Actions): HTMLElement {
  const time = make('strong', 'amount', left(Date.parse(readyAt) - Date.now()));
  time.dataset['until'] = readyAt;
  const made = make(
    'section',
    'notice bad',
    make('p', '', make('strong', '', word('notice.recovery'))),
    make('p', '', ...wordWith('notice.recovery_words', { left: time }, { time: moment(readyAt) })),
    makeButton(word('stop.go'), '', stop),
  );
  made.setAttribute('role', 'alert');
  return made;
}

/** Moves all countdowns of the page by a second. */
export function tick(): void {
  for (const found of document.querySelectorAll<HTMLElement>('[data-until]')) {
    found.textContent = left(Date.parse(found.dataset['until'] ?? '') - Date.now());
  }
}

/** Reads the account's balance, and writes it. A balance that cannot be read says so. */
export async function writeMoney({ account, config }: Signed): Promise<void> {
  const tokens = ['native', ...(config.usdc ? [config.usdc] : [])];
  const list = element('money');
  const row = (symbol: string, amount: string, style = 'small quiet-text') =>
    make('li', '', make('span', 'quiet-text', symbol), make('span', style, amount));
  const rowsOf = (amount: string) => tokens.map((token) => row(token === 'native' ? 'ETH' : 'USDC', amount));
  // Rows that came later would move the buttons below under a finger.
  if (!list.firstChild) list.append(...rowsOf('…'));
  const rows = rowsOf(word('money.unknown'));
  await Promise.all(
    tokens.map(async (token, i) => {
      const found = await readToken(token, account.address).catch(() => undefined);
      if (found) rows[i] = row(found.symbol, amountText(found.balance, found.decimals), 'amount');
    }),
  );
  list.replaceChildren(...rows);
}

/** The passkey's registration; undefined if there is none, or the vault does not say. */
async function readRegistration({ credentialId, x, y }: Account): Promise<Registration | undefined> {
  const key = x === undefined || y === undefined ? {} : { pubKeyX: x, pubKeyY: y };
  return ask<Registration>('GET /api/dids/lookup', { credentialId, ...key }).catch(() => undefined);
}

/** Whether the vault issues credentials: it has their types then, which browsers keep. */
async function offersStatements(): Promise<boolean> {
  const type = await fetch('/credentials/types/email', { credentials: 'omit' }).catch(() => undefined);
  return type?.ok === true;
}

/** Reads the account's state from the chain. */
export async function readSigned(world: World & { contracts: Contracts }, account: Account): Promise<Signed> {
  const [facts, registration] = await Promise.all([readFacts(account.address as Hex), readRegistration(account)]);
  const kind = facts.kind ?? account.kind;
  const states = registration !== undefined && (await offersStatements());
  return { ...world, account: { ...account, kind }, facts, registration, states };
}
