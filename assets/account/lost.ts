// "I lost my passkey": the address proves who asks, a new passkey is made, and after the waiting time it opens the
// account.

import { bytesOf, utf8 } from '../../client/bytes.ts';
import { encode, type Keccak } from '../../client/wallet/abi.ts';
import type { Account } from '../../client/wallet/account.ts';
import { fromBase64url, type Hex, toHex } from '../../client/wallet/bytes.ts';
import { askPasskey, createPasskey, userIdNaming } from '../../client/wallet/passkey.ts';
import { identifierHash, proofOf } from '../../client/wallet/proof.ts';
import { amountText } from '../wallet/amount.ts';
import { readToken } from '../wallet/api.ts';
import { word } from '../words/words.ts';
import { type Contracts, hex } from './facts.ts';
import { daysOf, labelOf, left, moment, nameHere, writeAddress } from './format.ts';
import { ask, VaultRefusal } from './http.ts';
import { passkeyName } from './keys.ts';
import { dropNew, notePasskey } from './managers.ts';
import { forget, recall, remember } from './memory.ts';
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
import { said } from './words.ts';

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
  const words = word('lost.words');
  prove({ title: word('start.lost'), words, back }, async (attestation) => {
    loading(word('lost.looking'));
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
      const choose = makeButton(word('which.choose'), 'link', () => then(address));
      choose.setAttribute('aria-label', word('which.choose_this', { address }));
      return make('li', '', make('div', '', name, make('span', 'quiet-text small', holds.join(' · '))), choose);
    }),
  );
  element('which-list').replaceChildren(...rows);
  write('which-words', word(found.length > 0 ? 'which.words' : 'which.none'));
  askAddress(then);
}

function askAddress(then: (address: Hex) => void): void {
  fault('which-address', undefined, 'which-fault');
  onSubmit('which-form', () => {
    const address = textIn('which-address');
    const isAddress = /^0x[0-9a-fA-F]{40}$/.test(address);
    fault('which-address', isAddress ? undefined : word('address.fault_form'), 'which-fault');
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
      noPasskey: (words) => {
        again();
        write('renew-notice', words);
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
    userId: userIdNaming(address),
  });
  const { credentialId, x, y, isSynced } = made;
  notePasskey(made, address);
  const account: Account = { credentialId, address, kind: 2, x, y, name: passkeyName(address) };
  const proofExpiresAt = Math.floor(Date.now() / 1000) + PROOF_SECONDS;
  const credential = toHex(keccak256(fromBase64url(credentialId)));
  const rest = [address, x, y, credential, identifierHash(keccak256, attestation), BigInt(proofExpiresAt)] as const;
  const challenge = recoverChallenge(keccak256, place, rest);
  const assertion = await askPasskey(config.rpId, challenge, [credentialId]).catch((error: unknown) => {
    // The next try makes another one.
    dropNew(config, credentialId);
    throw error;
  });
  const proof = proofOf(assertion);
  loading(word('asking'));
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

/** The challenge that a new passkey signs (docs/recovery.md): label, registrar, chain, and the rest of its words. */
export function recoverChallenge(
  keccak256: Keccak,
  { config, contracts }: Pick<Place, 'config' | 'contracts'>,
  rest: readonly (bigint | Hex)[],
): Uint8Array<ArrayBuffer> {
  const label = { bytes: toHex(utf8('vault/recover/v1')) };
  const registrar = toHex(keccak256(utf8(contracts.registrar)));
  return new Uint8Array(keccak256(bytesOf(`0x${encode([label, registrar, BigInt(config.chainId), ...rest])}`)));
}

/** How long the proof is good, in seconds. */
const PROOF_SECONDS = 300;

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
    if (!isOwn) return over(said('recovered_elsewhere'));
    forget('lost');
    await signInto(own);
    return over(said('recovered'));
  }
  if (ENDS.includes(status)) return over(said(`recovery_${status}`));
  step(STEPS, readyAt === null ? 'wait-2' : 'wait-3');
  write('waiting-title', status === 'submitted' ? word('waiting.title_announcing') : word('waiting.title'));
  write('waiting-words', readyAt === null ? word('waiting.announcing') : waitingWords(readyAt, isOwn));
  return false;
}

function waitingWords(readyAt: string, isOwn: boolean): string {
  const rest = Date.parse(readyAt) - Date.now();
  if (rest <= 0) return word('waiting.over');
  const days = daysOf(Math.max(86_400, rest / 1000));
  const values = { time: moment(readyAt), days };
  return [isOwn ? word('waiting.yours', values) : word('waiting.other', values), word('waiting.close')].join(' ');
}

/** How a recovery ends other than by its passkey. */
export const ENDS = ['none', 'vetoed', 'cancelled', 'lapsed', 'failed'];

function over(words: readonly [string, string]): true {
  showDone(words, '');
  return true;
}
