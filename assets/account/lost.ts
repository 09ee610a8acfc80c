// "I lost my passkey": the address proves who asks, a new passkey is made, and after the waiting time it opens the
// account.

import type { Account } from '../../client/wallet/account.ts';
import { fromBase64url, type Hex, toHex } from '../../client/wallet/bytes.ts';
import { askPasskey, createPasskey } from '../../client/wallet/passkey.ts';
import { identifierHash, proofOf } from '../../client/wallet/proof.ts';
import { amountText } from '../wallet/amount.ts';
import { readToken } from '../wallet/api.ts';
import { word } from '../words/words.ts';
import { type Contracts, hex } from './facts.ts';
import { daysOf, labelOf, left, moment, nameHere, writeAddress } from './format.ts';
import { proofHead, soon } from './guardian.ts';
import { ask, VaultRefusal } from './http.ts';
import { passkeyName } from './keys.ts';
import { forget, noteSynced, recall, remember } from './memory.ts';
import type { World } from './operate.ts';
import { showDone } from './perform.ts';
import { guard, ProblemError } from './problem.ts';
import { type Attestation, prove } from './prove.ts';
import { signInto } from './session.ts';
import {
  element,
  fault,
  loading,
  make,
  makeButton,
  onPress,
  onSubmit,
  show,
  shown,
  step,
  textIn,
  write,
} from './view.ts';
import { NO_PASSKEY, said } from './words.ts';

type Place = World & { readonly contracts: Contracts };

/** The status of an account's newest recovery, as the vault tells it. */
interface Status {
  readonly recovery: null | {
    readonly status: string;
    readonly pubKeyX: Hex;
    readonly pubKeyY: Hex;
    readonly readyAt: string | null;
    readonly lapsesAt: string | null;
  };
}

/** Asks for the address, and finds the account. */
export function recover(place: Place, back: () => void): void {
  const words = word('Enter the email address that you set recovery up with. We send it a code.');
  prove({ title: word('I lost my passkey'), words, back }, async (attestation) => {
    loading(word('Looking for your account…'));
    const found = await accountsOf(attestation);
    await askWhich(place, found, (address) => renew(place, attestation, address));
  });
}

async function accountsOf(attestation: Attestation): Promise<readonly Hex[]> {
  try {
    const { accounts } = await ask<{ accounts: unknown[] }>('POST /api/recoveries/accounts', { attestation });
    return accounts.map((account) => hex(account, 20));
  } catch (error) {
    if (error instanceof VaultRefusal && error.code === 'not_found') return [];
    throw error;
  }
}

/** The person says which account: anybody can have named this address for an account of theirs. */
async function askWhich({ config }: Place, found: readonly Hex[], then: (address: Hex) => void): Promise<void> {
  const rows = await Promise.all(
    found.map(async (address) => {
      const tokens = ['native', ...(config.usdc ? [config.usdc] : [])];
      const held = await Promise.all(tokens.map((token) => readToken(token, address).catch(() => undefined)));
      const holds = held.flatMap((one) =>
        one ? [`${amountText(one.balance, one.decimals).slice(0, 10)} ${one.symbol}`] : [],
      );
      const name = make('strong', 'mono');
      writeAddress(name, address);
      const choose = makeButton(word('Choose'), 'link', () => then(address));
      choose.setAttribute('aria-label', word('Choose {address}', { address }));
      return make('li', '', make('div', '', name, make('span', 'quiet-text small', holds.join(' · '))), choose);
    }),
  );
  element('which-list').replaceChildren(...rows);
  write('which-words', word(found.length > 0 ? WHICH : UNKNOWN));
  askAddress(then);
}

const WHICH = 'Anyone can name this email address for an account. Choose yours by its address, and by what it holds.';
const UNKNOWN =
  'No account was found for this address. The account’s own address is in your notes, our mails, or your payments.';

function askAddress(then: (address: Hex) => void): void {
  fault('which-address', undefined, 'which-fault');
  onSubmit('which-form', () => {
    const address = textIn('which-address');
    const isAddress = /^0x[0-9a-fA-F]{40}$/.test(address);
    fault('which-address', isAddress ? undefined : word('Enter 0x and 40 digits.'), 'which-fault');
    if (isAddress) then(address.toLowerCase() as Hex);
  });
  show('which');
}

function renew(place: Place, attestation: Attestation, address: Hex): void {
  writeAddress(element('renew-account'), address);
  const again = () => renew(place, attestation, address);
  onPress('renew-go', () =>
    guard(() => propose(place, attestation, address), {
      again,
      noPasskey: () => {
        again();
        write('renew-notice', word(NO_PASSKEY));
      },
    }),
  );
  write('renew-notice', undefined);
  show('renew');
}

/** Makes the passkey, has it sign that it asks, and hands the request to the vault. */
async function propose(place: Place, attestation: Attestation, address: Hex): Promise<void> {
  const { config, enclave } = place;
  const { keccak256 } = enclave;
  const made = await createPasskey(config.rpId, {
    rpName: config.rpName,
    name: passkeyName(address),
    account: address,
  });
  const { credentialId, x, y, isSynced } = made;
  noteSynced(x, isSynced);
  const account: Account = { credentialId, address, kind: 2, x, y, name: passkeyName(address) };
  const proofExpiresAt = soon();
  const credential = toHex(keccak256(fromBase64url(credentialId)));
  const head = proofHead(keccak256, { ...place, account }, 'vault/recover/v1');
  const challenge = head([credential, identifierHash(keccak256, attestation), BigInt(proofExpiresAt)]);
  const proof = proofOf(await askPasskey(config.rpId, challenge, [credentialId]));
  loading(word('Asking the vault…'));
  await ask('POST /api/recoveries', {
    attestation,
    smartAccount: address,
    credentialId,
    pubKeyX: x,
    pubKeyY: y,
    label: labelOf(nameHere(), isSynced),
    proof,
    proofExpiresAt,
  });
  remember('lost', account);
  location.hash = `waiting=${address}`;
}

/** How often the status is looked at. */
const LOOK_MS = 6_000;
const STEPS = ['wait-1', 'wait-2', 'wait-3'];

/** The countdown, until the new passkey opens the account or somebody stopped it. */
export async function wait(value: string): Promise<void> {
  if (!/^0x[0-9a-f]{40}$/.test(value)) throw new ProblemError('no_link');
  const hash = location.hash;
  let readyAt = 0;
  let lookAt = 0;
  onPress('waiting-check', () => {
    lookAt = 0;
  });
  while (location.hash === hash && (shown() === 'waiting' || lookAt === 0)) {
    if (Date.now() >= lookAt) {
      lookAt = Date.now() + LOOK_MS;
      const { recovery } = await ask<Status>('GET /api/recoveries/status', { smartAccount: value });
      const isOver = await showStatus(value as Hex, recovery);
      if (isOver) return;
      readyAt = recovery?.readyAt ? Date.parse(recovery.readyAt) : 0;
    }
    write('waiting-left', readyAt > Date.now() ? left(readyAt - Date.now()) : undefined);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Writes where the recovery is; true once it is over. */
async function showStatus(address: Hex, recovery: Status['recovery']): Promise<boolean> {
  if (shown() !== 'waiting') show('waiting');
  const { status = 'none', readyAt = null } = recovery ?? {};
  const own = recall<Account>('lost');
  const isOwn = own?.address === address && recovery !== null && BigInt(own.x ?? '0x0') === BigInt(recovery.pubKeyX);
  if (status === 'finished') {
    if (!isOwn)
      return over([word('The account has a new passkey'), word('Sign in with it on the device that made it.')]);
    forget('lost');
    await signInto(own);
    return over([
      word('You are back'),
      word('Your new passkey opens your account. Add a second one now, on another device.'),
    ]);
  }
  const end = ENDS[status];
  if (end) return over(said(end));
  step(STEPS, readyAt === null ? 'wait-2' : 'wait-3');
  write('waiting-title', status === 'submitted' ? word('Recovery is being announced') : word('Recovery is under way'));
  write('waiting-words', readyAt === null ? word(STARTING) : waitingWords(readyAt, isOwn));
  return false;
}

const WAITING =
  'You can close this page: we write to your address every day. Anyone who still has a passkey of the account can stop this until then.';
const STARTING = 'The network takes a moment. You can close this page and come back.';

function waitingWords(readyAt: string, isOwn: boolean): string {
  const rest = Date.parse(readyAt) - Date.now();
  if (rest <= 0) return word('The waiting time is over. Your new passkey is being added, which takes a minute.');
  const days = daysOf(Math.max(86_400, rest / 1000));
  const values = { time: moment(readyAt), days };
  return [
    isOwn
      ? word('Your new passkey opens the account on {time}, in about {days}. Keep it.', values)
      : word('The new passkey opens the account on {time}, in about {days}. Keep it.', values),
    word(WAITING),
  ].join(' ');
}

const ENDS: Readonly<Record<string, readonly [string, string]>> = {
  none: ['No recovery is under way', 'Start again with “I lost my passkey”.'],
  vetoed: [
    'The recovery was stopped',
    'Somebody with a passkey of the account stopped it. If that was not you, your account is not lost: look for that passkey.',
  ],
  cancelled: ['The recovery was withdrawn', 'It was replaced or withdrawn. You can start again.'],
  lapsed: ['The recovery has ended', 'It was not finished in time. Start again with “I lost my passkey”.'],
  failed: [
    'The recovery could not be announced',
    'The account refused it. Start again, or write to the operator of this vault.',
  ],
};

function over(words: readonly [string, string]): true {
  showDone(words, '');
  return true;
}
