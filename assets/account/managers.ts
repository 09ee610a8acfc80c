// Keeps passkey managers true: they show the passkeys that open an account, by the names that people gave them.
import { fromBase64url, type Hex } from '../../client/wallet/bytes.ts';
import { NAMED_BYTES, type NewPasskey } from '../../client/wallet/passkey.ts';
import { tellAccepted, tellName, tellUnknown } from '../wallet/signals.ts';
import { keysOf, type Signed } from './home.ts';
import { noteSynced, recall, remember } from './memory.ts';

/** A passkey that this browser has made or used, as its manager knows it; `userId` is its user handle. */
interface Met {
  readonly userId: string;
  readonly account: Hex;
  readonly x: Hex;
  /** The name of the key when it was last seen, and the one that the manager shows behind the brand. */
  readonly label?: string | undefined;
  readonly name?: string | undefined;
  readonly brand?: string | undefined;
}

type Passkey = Pick<NewPasskey, 'credentialId' | 'userId' | 'x'> & Partial<Pick<NewPasskey, 'isSynced'>>;

/** A device has few passkeys; the oldest is forgotten first. */
const MET_MAX = 32;

type Config = Signed['config'];

function readMet(): [id: string, met: Met][] {
  const all = recall<Record<string, Met>>('passkeys');
  return Object.entries(all ?? {}).filter(([, one]) => [one?.userId, one?.x].every((text) => typeof text === 'string'));
}

/** Notes a passkey that was made or used here; one that is noted keeps its names. */
export function notePasskey(
  { credentialId, userId, x, isSynced }: Passkey,
  account: Hex,
  named: Pick<Met, 'name' | 'brand'> = {},
): void {
  if (isSynced !== undefined) noteSynced(x, isSynced);
  const { [credentialId]: before, ...others } = Object.fromEntries(readMet());
  const noted = [...Object.entries(others), [credentialId, { ...before, ...named, userId, x, account }]];
  remember('passkeys', Object.fromEntries(noted.slice(-MET_MAX)));
}

/**
 * Says which keys the account has, and their new names. A key that is not among them may be one that the node does not
 * show yet: nothing is said of it.
 */
export function tellHeld(signed: Signed): void {
  const { config, account } = signed;
  const keys = keysOf(signed).filter(({ isAddress }) => !isAddress);
  for (const [id, met] of readMet()) {
    const key = keys.find(({ x }) => BigInt(x) === BigInt(met.x));
    if (!key || met.account !== account.address) continue;
    tellAccepted(config.rpId, met.userId, [id]);
    tellNames(config, id, met, key.label ?? undefined);
  }
}

function tellNames({ rpId, rpName }: Config, id: string, met: Met, label: string | undefined): void {
  const isNamed = met.label !== undefined && label !== undefined && label !== met.label;
  const name = isNamed ? label : met.name;
  // The manager has the name that the passkey was made with, unless the brand stands in it.
  if (name !== undefined && (isNamed || rpName !== met.brand)) tellName(rpId, met.userId, `${rpName}, ${name}`);
  const now: Met = { ...met, label: label ?? met.label, name, ...(name === undefined ? {} : { brand: rpName }) };
  if (JSON.stringify(now) === JSON.stringify(met)) return;
  remember('passkeys', { ...recall<object>('passkeys'), [id]: now });
}

/**
 * A block has the removal of this key. Its passkey goes if it was made for the account: the first one opens addresses
 * elsewhere that nobody else can open.
 */
export function tellRemoved({ rpId }: Config, account: Hex, x: Hex): void {
  for (const [, met] of readMet()) {
    const isIt = met.account === account && BigInt(met.x) === BigInt(x);
    if (isIt && fromBase64url(met.userId).length === NAMED_BYTES) tellAccepted(rpId, met.userId, []);
  }
}

/**
 * Deletes a passkey that was just made for an account that is there: it has signed nothing, and no request has named
 * it. A refusal would not be enough, as a request may arrive twice.
 */
export function dropNew({ rpId }: Config, credentialId: string): void {
  tellUnknown(rpId, credentialId);
}
