import { AbiFunction, Address, Base64, Hex } from 'ox';
import { readConfig } from '../../../assets/wallet/api.ts';
import { findAccounts } from '../../../assets/wallet/find.ts';
import { accountFactoryAbi } from '../../../contracts/abi.ts';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import { createKeys } from '../../../lib/identity/keys.ts';
import { signAttestation } from '../../../lib/verification/attestation.ts';
import { createPasskey, type Passkey } from '../../../scripts/dev-stack/passkey.ts';
import { proveRegistration } from '../../../scripts/dev-stack/passkey-proof.ts';
import { registerData } from '../onchain.ts';
import { type Reply, VAULT_SECRET } from '../vault.ts';
import { newDevice, newKeyring, on } from './device.ts';
import type { HostileWorld } from './world.ts';

/** Somebody who registers: the vault does it for them, or they did it themselves and have it recorded. */
export interface Registrant {
  readonly n: number;
  readonly did: string;
  readonly passkey: Passkey;
  readonly credentialId: string;
  readonly account: Address.Address;
  readonly kind: 1 | 2;
  readonly isRelayed: boolean;
  /** Names a transaction that never was. */
  readonly isPhantom: boolean;
  /** The transaction of their own, once it was sent. */
  txHash: Hex.Hex | undefined;
  /** A request that is under way. */
  isAsking: boolean;
  /** How many requests there were. */
  asked: number;
  /** Whether the vault said that it has the registration. */
  isTaken: boolean;
  /** Answers other than that it should be tried again. */
  readonly refusals: string[];
}

export const REGISTRAR_DID = 'did:web:registrar.example';
const GET_ADDRESS = AbiFunction.fromAbi(accountFactoryAbi, 'getAddress');
/** Refusals that only say that it should be tried again. */
const TRY_AGAIN = /rpc_error|identifier_busy|relay_unfunded|registry_missing|nodes_disagree|no_registry/;

/** Somebody with a passkey, whose account of either kind is nowhere yet. */
export async function newRegistrant(world: HostileWorld, n: number): Promise<Registrant> {
  const { chain, contracts, draw } = world;
  const passkey = createPasskey(undefined, Hex.fromBytes(draw.bytes(32)));
  const kind = draw.below(3) === 0 ? 1 : 2;
  const key = [Hex.toBigInt(Hex.fromBytes(passkey.key.x)), Hex.toBigInt(Hex.fromBytes(passkey.key.y)), 0n] as const;
  const to = kind === 1 ? contracts.accountFactory : contracts.accountFactory2;
  const answer = await chain.rpc('eth_call', [{ to, data: AbiFunction.encodeData(GET_ADDRESS, key) }, 'latest']);
  const account = AbiFunction.decodeResult(GET_ADDRESS, answer as Hex.Hex);
  const isPhantom = draw.below(10) === 0;
  // An unused account of the first kind is not looked for where there is a second kind.
  if (kind === 1 || draw.below(2) === 0) await world.fund(account, { wei: 10n ** 17n });
  return {
    n,
    did: `did:pkh:eip155:84532:${account}`,
    passkey,
    credentialId: Base64.fromString(`credential of ${n}`.padEnd(24, '.'), { url: true, pad: false }),
    account,
    kind,
    isRelayed: !isPhantom && draw.below(3) > 0,
    isPhantom,
    txHash: isPhantom ? Hex.fromBytes(draw.bytes(32)) : undefined,
    isAsking: false,
    asked: 0,
    isTaken: false,
    refusals: [],
  };
}

/** Asks for the registration once more, until the vault has taken it. */
export function ask(world: HostileWorld, one: Registrant): void {
  if (one.isAsking || one.isTaken) return;
  one.isAsking = true;
  one.asked++;
  void request(world, one)
    .then(({ status, text }) => {
      one.isTaken = status === 200 || status === 202;
      if (!one.isTaken && !TRY_AGAIN.test(text)) one.refusals.push(`${status} ${text}`);
    })
    .catch((error) => one.refusals.push(String(error)))
    .finally(() => {
      one.isAsking = false;
    });
}

async function request(world: HostileWorld, one: Registrant): Promise<Reply> {
  const { vault, contracts, time } = world;
  if (!one.isRelayed) one.txHash ??= await registerOwn(world, one);
  const identifier = parseIdentifier('email', `person${one.n}@example.com`);
  const attestation = signAttestation(createKeys(Hex.toBytes(`0x${VAULT_SECRET}`)).attestation, {
    identifier,
    verifiedAt: time.now(),
    ttlSeconds: 3_600,
    registrar: REGISTRAR_DID,
  });
  const subject = { credentialId: one.credentialId, identifier: identifier.value, channel: 'email', did: one.did };
  const given = { ...subject, smartAccount: one.account, attestation };
  const registry = { registrar: REGISTRAR_DID, chainId: 84532, didRegistry: contracts.didRegistry };
  const proof = proveRegistration(one.passkey, registry, given, { now: time.now() });
  const key = { pubKeyX: Hex.fromBytes(one.passkey.key.x), pubKeyY: Hex.fromBytes(one.passkey.key.y) };
  const own = one.txHash === undefined ? {} : { txHash: one.txHash };
  return vault.from(`203.0.113.${one.n % 200}`).call('POST /api/dids', { ...given, ...proof, ...key, ...own });
}

/** As the account itself would. A re-org between two calls takes the money back that it was given. */
async function registerOwn({ chain, contracts }: HostileWorld, { account, did }: Registrant): Promise<Hex.Hex> {
  const fees = { maxFeePerGas: '0x12a05f200', maxPriorityFeePerGas: '0x1' };
  const call = { from: account, to: contracts.didRegistry, data: registerData({ did }), gas: '0x7a120', ...fees };
  for (let tries = 1; ; tries++) {
    await chain.rpc('anvil_setBalance', [account, '0xde0b6b3a7640000']);
    try {
      return (await chain.rpc('eth_sendTransaction', [call])) as Hex.Hex;
    } catch (error) {
      if (tries === 5 || !/insufficient funds/i.test(`${error}`)) throw error;
    }
  }
}

/** Sends what a re-org took back once more, byte for byte, as wallets and pools do. */
export async function sendAgain(world: HostileWorld, one: Registrant): Promise<void> {
  if (one.isPhantom || one.txHash === undefined || (await world.chain.rpc('eth_getTransactionByHash', [one.txHash])))
    return;
  const again = await registerOwn(world, one);
  if (again !== one.txHash) throw new Error('another transaction');
}

/** What a device that never saw the vault finds with the passkey alone. */
export function found(world: HostileWorld, { passkey, credentialId }: Registrant): Promise<readonly string[]> {
  const keyring = newKeyring(world.draw);
  keyring.passkeys.set(credentialId, { passkey, userHandle: new Uint8Array(16) });
  keyring.pick = credentialId;
  return on(newDevice(world.vault.url, world.draw, keyring), async () => {
    const config = await readConfig();
    const accounts = await findAccounts({ config, enclave: world.enclave, again: async () => undefined });
    return accounts.map(({ address }) => Address.checksum(address));
  });
}
