// A key that another device makes: the first device shows a QR code, the second makes the passkey, and the person
// compares six digits that both compute from values that only they know.

import { bytesOf, utf8 } from '../../client/bytes.ts';
import type { Account } from '../../client/wallet/account.ts';
import { fromBase64url, type Hex, toBase64url, toHex } from '../../client/wallet/bytes.ts';
import { createPasskey, userIdNaming } from '../../client/wallet/passkey.ts';
import { UnreachableError } from '../../client/wallet/vault.ts';
import { keepAccounts, readAccounts } from '../wallet/memory.ts';
import { drawCode } from '../wallet/view.ts';
import { word } from '../words/words.ts';
import { type AccountFacts, hex, readFacts } from './facts.ts';
import { isName, labelOf, left, nameHere, writeAddress } from './format.ts';
import type { Signed } from './home.ts';
import { ask, VaultRefusal } from './http.ts';
import { addKey, passkeyName } from './keys.ts';
import { notePasskey } from './managers.ts';
import { forget, recall, remember } from './memory.ts';
import type { World } from './operate.ts';
import { showDone } from './perform.ts';
import { guard, ProblemError, showProblem } from './problem.ts';
import { signInto } from './session.ts';
import { element, fault, fill, onPress, onSubmit, show, shown, textIn, toggle, write } from './view.ts';
import { said } from './words.ts';

/** Pause between looks into the mailbox. */
const LOOK_MS = 2_000;

interface Mailbox {
  readonly smartAccount: Hex;
  readonly expiresAt: string;
  readonly key: { readonly x: Hex; readonly y: Hex; readonly label: Hex } | null;
}

async function sha256(...parts: Uint8Array[]): Promise<Uint8Array> {
  const joined = new Uint8Array(parts.flatMap((part) => [...part]));
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joined));
}

/** The name of the mailbox of a secret. */
export async function mailboxOf(secret: Uint8Array): Promise<string> {
  return toHex((await sha256(utf8('vault/join/id'), secret)).subarray(0, 16)).slice(2);
}

/** The digits that both screens show: `123 456`. */
export async function digitsOf(secret: Uint8Array, account: Hex, key: { x: Hex; y: Hex }): Promise<string> {
  const [x, y] = [hex(key.x, 32), hex(key.y, 32)];
  const hash = await sha256(utf8('vault/join/code'), secret, ...[account, x, y].map(bytesOf));
  const digits = String(new DataView(hash.buffer).getUint32(0) % 1_000_000).padStart(6, '0');
  return `${digits.slice(0, 3)} ${digits.slice(3)}`;
}

/** The first device: shows the code, waits for the key, and has the owner compare and confirm. */
export async function showCode(signed: Signed, back: () => void): Promise<void> {
  const { account } = signed;
  const secret = crypto.getRandomValues(new Uint8Array(16));
  const id = await mailboxOf(secret);
  const { expiresAt } = await ask<{ expiresAt: string }>('POST /api/accounts/joins', {
    id,
    smartAccount: account.address,
  });
  const link = `${location.origin}/account#join=${toBase64url(secret)}`;
  await drawCode('qr-code', link);
  write('qr-link', link);
  write('qr-title', word('qr.title'));
  toggle('qr-wait', true);
  toggle('qr-came', false);
  onPress('qr-copy', () => void navigator.clipboard.writeText(link));
  show('qr');
  const until = Date.parse(expiresAt);
  const key = await awaitKey(id, () => {
    write('qr-left', left(until - Date.now()));
    return shown() === 'qr' && location.hash === '#qr';
  });
  if (!key) return;
  await compare(signed, secret, key, back);
}

/** The key once it is there; undefined once `isOn` says no. Throws 404 when the mailbox has closed. */
async function awaitKey(id: string, isOn: () => boolean): Promise<NonNullable<Mailbox['key']> | undefined> {
  for (let looked = 0; isOn(); ) {
    if (Date.now() - looked > LOOK_MS) {
      looked = Date.now();
      const { key } = await look(id);
      if (key) return key;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return undefined;
}

async function look(id: string): Promise<Pick<Mailbox, 'key'>> {
  try {
    return await readMailbox(id);
  } catch (error) {
    // The next look may have better luck.
    if (error instanceof UnreachableError) return { key: null };
    throw error;
  }
}

async function readMailbox(id: string): Promise<Mailbox> {
  const { smartAccount, expiresAt, key } = await ask<Mailbox>('GET /api/accounts/joins', { id }).catch((error) => {
    if (error instanceof VaultRefusal && error.code === 'not_found') throw new VaultRefusal('join_closed');
    throw error;
  });
  return { smartAccount: hex(smartAccount, 20), expiresAt, key };
}

async function compare(signed: Signed, secret: Uint8Array, key: NonNullable<Mailbox['key']>, back: () => void) {
  const name = nameOf(hex(key.label, 32));
  write('qr-title', word('qr.compare'));
  write('qr-digits', await digitsOf(secret, signed.account.address, key));
  write('qr-name', name);
  toggle('qr-wait', false);
  toggle('qr-came', true);
  onPress('qr-same', () => addKey(signed, { ...key, name }, back));
  onPress('qr-other', () => {
    const words = word('differ.text');
    showProblem([word('differ.title'), words], '', back);
  });
  show('qr');
}

/** The name in a label. A stranger may have written it, so it is cut to 31 bytes and stripped of control characters. */
function nameOf(label: Hex): string {
  const bytes = bytesOf(label).subarray(0, 31);
  const end = bytes.indexOf(0);
  const text = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)).replace(/\p{C}/gu, '');
  return text === '' ? word('name.new') : text;
}

/** The passkey that the second device made, remembered over a reload. */
interface Made {
  readonly link: string;
  readonly account: Hex;
  readonly credentialId: string;
  readonly x: Hex;
  readonly y: Hex;
  readonly name: string;
}

/** The second device: makes a passkey for the account of the link, shows the digits, and waits until it is added. */
export async function join(world: World, link: string): Promise<void> {
  const secret = secretOf(link);
  const made = recall<Made>('made');
  if (made?.link === link) return waitAdded(made, secret);
  const id = await mailboxOf(secret);
  const { smartAccount, key } = await readMailbox(id);
  if (key) throw new VaultRefusal('join_taken');
  writeAddress(element('join-account'), smartAccount);
  write('join-shared', sharedWords(await readFacts(smartAccount)));
  if (textIn('join-name') === '') fill('join-name', nameHere());
  toggle('join-ask', true);
  toggle('join-made', false);
  fault('join-name', undefined, 'join-fault');
  onSubmit('join-form', () => {
    const name = textIn('join-name');
    fault('join-name', isName(name) ? undefined : word('name.fault'), 'join-fault');
    if (!isName(name)) return;
    guard(() => makeKey(world, { link, secret, id, account: smartAccount, name }), {
      again: () => guard(() => join(world, link)),
      noPasskey: (words) => fault('join-name', words, 'join-fault'),
    });
  });
  show('join');
}

/** The page cannot know whose account it is, but it can say how many keys share it. */
function sharedWords({ keys, guardian }: AccountFacts): string {
  const sentences = [
    word('join.only_yours'),
    word('join.shared', {
      count: Math.max(1, keys.length),
    }),
    ...(guardian ? [word('join.recovery')] : []),
  ];
  return sentences.join(' ');
}

function secretOf(link: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9_-]{22}$/.test(link)) throw new ProblemError('no_link');
  return fromBase64url(link);
}

async function makeKey(
  { config }: World,
  { link, secret, id, account, name }: { link: string; secret: Uint8Array; id: string; account: Hex; name: string },
): Promise<void> {
  const made = await createPasskey(config.rpId, {
    rpName: config.rpName,
    name: passkeyName(account),
    userId: userIdNaming(account),
  });
  const { credentialId, x, y, isSynced } = made;
  notePasskey(made, account);
  const kept: Made = { link, account, credentialId, x, y, name };
  remember('made', kept);
  await ask('POST /api/accounts/joins/keys', { id, pubKeyX: x, pubKeyY: y, label: labelOf(name, isSynced) });
  await waitAdded(kept, secret);
}

async function waitAdded(made: Made, secret: Uint8Array): Promise<void> {
  const { account, credentialId, x, y, link } = made;
  write('join-digits', await digitsOf(secret, account, made));
  toggle('join-ask', false);
  toggle('join-made', true);
  show('join');
  const isHere = () => shown() === 'join' && location.hash === `#join=${link}`;
  while (isHere()) {
    const facts = await readFacts(account).catch(() => undefined);
    if (facts?.keys.some((key) => BigInt(key.x) === BigInt(x) && BigInt(key.y) === BigInt(y))) break;
    if (!(await isOpen(secret))) return showProblem(said('join_closed'), '', undefined);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  if (!isHere()) return;
  forget('made');
  const added: Account = { address: account, kind: 2, credentialId, x, y, name: passkeyName(account) };
  const known = (await readAccounts()).filter(({ address }) => address !== account);
  // The page cannot know whose account it is, so it never replaces the accounts that are here.
  if (known.length === 0) await signInto(added);
  else await keepAccounts([...known, added]);
  const where = known.length === 0 ? [] : [word('join.listed')];
  showDone([word('join.done'), [word('join.added'), ...where].join(' ')], '');
}

async function isOpen(secret: Uint8Array): Promise<boolean> {
  try {
    await readMailbox(await mailboxOf(secret));
    return true;
  } catch (error) {
    return !(error instanceof VaultRefusal);
  }
}
