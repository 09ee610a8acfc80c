import { createHash } from 'node:crypto';
import { AbiFunction, type Address, Base64, Hex } from 'ox';
import { account2Abi } from '../../contracts/abi.ts';
import type { Env } from '../../lib/env.ts';
import { didHash } from '../../lib/identity/did.ts';
import { parseIdentifier } from '../../lib/identity/identifier.ts';
import { createKeys } from '../../lib/identity/keys.ts';
import { contactLines, recoverChallenge } from '../../lib/recovery/challenge.ts';
import { identifierHash, NO_HASH } from '../../lib/registration/challenge.ts';
import { signAttestation } from '../../lib/verification/attestation.ts';
import { passkeySigner, signDigest, vetoDigest } from '../../scripts/dev-stack/account2.ts';
import { type Chain, type ChainOptions, startChain } from '../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { type Ceremony, createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
import { addressOf, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { chainVars } from './chain-vars.ts';
import { testClock } from './clock.ts';
import { callAs, createSecond, pointOf } from './second-account.ts';
import { nonceFor } from './touch.ts';
import { startVault, type TestVault, VAULT_SECRET } from './vault.ts';

/** The registrar that its attestations and proofs name. */
export const REGISTRAR_DID = 'did:web:registrar.example';
const GUARDIAN_KEY = `0x${'47'.repeat(32)}` as const;

/** The shortest delay of a recovery, in seconds. */
export const DELAY = 72 * 3600;

/** A chain where accounts of the second kind have a guardian, whose funded key is in `vars`. */
export interface RecoveryChain extends Chain {
  readonly contracts: Deployment;
  readonly vars: Readonly<Record<string, string>>;
  readonly guardian: Account;
  /** Blocks of a chain that moves on; `seconds` later. */
  wait(seconds: number, blocks?: number): Promise<void>;
  mine(blocks?: number): Promise<void>;
  reorg(depth: number): Promise<void>;
  /** How often an account was asked for each of the events. */
  events(account: string): Promise<Record<'proposed' | 'finished' | 'vetoed' | 'cancelled', number>>;
  isKey(account: string, passkey: Passkey): Promise<boolean>;
}

type Account = { readonly address: Address.Address; readonly privateKey: Hex.Hex };

/** Somebody with an account of the second kind. */
export interface Owner {
  readonly account: Address.Address;
  readonly passkey: Passkey;
  readonly email: string;
}

/** Starts a chain with the contracts and a funded guardian. */
export async function startRecoveryChain(options: ChainOptions = {}): Promise<RecoveryChain> {
  const chain = await startChain(options);
  const { rpc } = chain;
  const contracts = await deployContracts(rpc);
  const guardian = { privateKey: GUARDIAN_KEY, address: addressOf(GUARDIAN_KEY) };
  await rpc('anvil_setBalance', [guardian.address, '0xde0b6b3a7640000']);
  const mine = async (blocks = 1) => void (await rpc('anvil_mine', [`0x${blocks.toString(16)}`]));
  return {
    ...chain,
    contracts,
    guardian,
    vars: { ...chainVars(chain.url, contracts), REGISTRAR_DID, GUARDIAN_PRIVATE_KEY: GUARDIAN_KEY },
    mine,
    async wait(seconds, blocks = 1) {
      await rpc('evm_increaseTime', [seconds]);
      await mine(blocks);
    },
    reorg: async (depth) => void (await rpc('anvil_reorg', [depth, []])),
    async events(account) {
      const counted = { proposed: 0, finished: 0, vetoed: 0, cancelled: 0 };
      const filter = { address: account, fromBlock: '0x0', toBlock: 'latest' };
      const logs = (await rpc('eth_getLogs', [filter])) as { topics: string[] }[];
      for (const { topics } of logs)
        for (const [name, topic] of Object.entries(EVENTS))
          if (topics[0] === topic) counted[name as keyof typeof counted]++;
      return counted;
    },
    async isKey(account, passkey) {
      const isKey = AbiFunction.fromAbi(account2Abi, 'isKey');
      const call = { to: account, data: AbiFunction.encodeData(isKey, pointOf(passkey.key)) };
      return BigInt(String(await rpc('eth_call', [call, 'latest']))) === 1n;
    },
  };
}

/** Starts a vault on the chain, at the time of its newest block. */
export async function startRecoveryVault(
  { rpc, vars }: RecoveryChain,
  more: Record<string, string | undefined> = {},
  env: Pick<Env, 'mail' | 'operatorFiles'> & { readonly dir?: string } = {},
): Promise<TestVault> {
  const { timestamp } = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  return startVault({ ...vars, ...more }, { ...env, clock: testClock(Number(timestamp) * 1000) });
}

const EVENTS = {
  proposed: '0x6615989fafa53e941a205146cfc318199e4fb7952669e442e358ae30e3639737',
  finished: '0xc4ad566ef82bf93d51c467253ca519a5f9e2b94f6d5f070679aeb59cd5784eae',
  vetoed: '0xb73d85cde6ddbbb555aad6cc399f1d5abb0c3aceb3afdd83d5a5e4c7c76374f2',
  cancelled: '0xdf8aa1927c1c58300242ba4bb6ef5cf1e86441979f6caa9c1b68e8fcf06406ca',
} as const;

/** An attestation of an address, or of a number, as `POST /api/verify/check` answers it now of a code for recovery. */
export function attest({ clock }: Pick<TestVault, 'clock'>, address: string, channel: 'email' | 'sms' = 'email') {
  return signAttestation(createKeys(Hex.toBytes(`0x${VAULT_SECRET}`)).attestation, {
    identifier: parseIdentifier(channel, address),
    // Two in one moment differ.
    verifiedAt: clock.now() - ++attested,
    ttlSeconds: 3_600,
    registrar: REGISTRAR_DID,
    purpose: 'recovery',
  });
}

let attested = 0;

/** Creates an account, and names the vault its guardian for an address. */
export async function createOwner(
  chain: RecoveryChain,
  t: Pick<TestVault, 'call' | 'clock'>,
  email: string,
  delay = DELAY,
): Promise<Owner> {
  const passkey = createPasskey();
  const account = await createSecond(chain.rpc, chain.contracts, passkey.key);
  await nameGuardian(chain, t, { account, email }, delay);
  return { account, passkey, email };
}

/** Names the vault the guardian of an account, as its owner does with what the vault answers. */
export async function nameGuardian(
  chain: Pick<RecoveryChain, 'rpc'>,
  t: Pick<TestVault, 'call' | 'clock'>,
  { account, email }: Pick<Owner, 'account' | 'email'>,
  delay = DELAY,
): Promise<string> {
  const offer = await offerFor(t, account, email);
  await setGuardian(chain, account, offer, delay);
  return offer.commitment;
}

/** What the vault offers to an account and an address. */
export async function offerFor(t: Pick<TestVault, 'call' | 'clock'>, smartAccount: string, email: string) {
  const { body } = await t.call('POST /api/recoveries/commitments', { attestation: attest(t, email), smartAccount });
  return body as { readonly guardian: Address.Address; readonly commitment: Hex.Hex };
}

/** Puts what was offered on-chain, as an owner does. */
export async function setGuardian(
  { rpc }: Pick<RecoveryChain, 'rpc'>,
  account: Address.Address,
  { guardian, commitment }: Awaited<ReturnType<typeof offerFor>>,
  delay = DELAY,
): Promise<void> {
  const set = AbiFunction.fromAbi(account2Abi, 'setGuardian');
  await callAs(rpc, account, account, AbiFunction.encodeData(set, [guardian, delay, commitment]));
}

/** The body of `POST /api/recoveries` for a new passkey. */
export function recoveryBody(
  t: TestVault,
  { account, email }: Pick<Owner, 'account' | 'email'>,
  passkey: Passkey,
  {
    attestation = attest(t, email),
    ceremony = {},
    label,
  }: { attestation?: ReturnType<typeof attest>; ceremony?: Ceremony; label?: string } = {},
) {
  const expiresAt = Math.floor(t.clock.now() / 1000) + 540;
  const [x, y] = pointOf(passkey.key);
  const credentialId = Base64.fromBytes(passkey.key.x.slice(0, 16), { url: true, pad: false });
  const challenge = recoverChallenge(
    {
      registrarDidHash: didHash(REGISTRAR_DID),
      chainId: 84532,
      smartAccount: account,
      x,
      y,
      identifierHash: identifierHash(parseIdentifier('email', email), attestation.signature),
      expiresAt,
    },
    credentialId,
  );
  return {
    attestation,
    smartAccount: account,
    credentialId,
    pubKeyX: Hex.fromBytes(passkey.key.x),
    pubKeyY: Hex.fromBytes(passkey.key.y),
    proof: passkey.assert(challenge, ceremony),
    proofExpiresAt: expiresAt,
    ...(label === undefined ? {} : { label }),
  };
}

/**
 * The body of `POST /api/recoveries/contacts`, by a key of the account at BASE_URL's page; without an address it removes
 * the contact.
 */
export async function contactBody(
  t: TestVault,
  account: Address.Address,
  passkey: Passkey,
  email?: string,
  {
    origin = t.url.replace('127.0.0.1', 'localhost'),
    attestation = email === undefined ? undefined : attest(t, email),
  }: { readonly origin?: string; readonly attestation?: ReturnType<typeof attest> | undefined } = {},
) {
  const hash = email === undefined ? NO_HASH : identifierHash(parseIdentifier('email', email), attestation?.signature);
  const named = { registrarDid: REGISTRAR_DID, chainId: 84532 };
  const request = contactLines(named, account.toLowerCase(), hash).join('\n');
  // A later touch than the one before.
  await t.clock.advance(1_000);
  const nonce = await nonceFor(t, request);
  return {
    smartAccount: account,
    pubKeyX: Hex.fromBytes(passkey.key.x),
    pubKeyY: Hex.fromBytes(passkey.key.y),
    proof: passkey.assert(createHash('sha256').update(`${request}\n${nonce}`).digest(), { origin }),
    nonce,
    ...(attestation ? { attestation } : {}),
  };
}

/** An owner's veto of the pending recovery of a key. */
export function vetoOf({ account, passkey }: Owner, proposed: Passkey, id: number, index = 0): Hex.Hex {
  const [x, y] = pointOf(proposed.key);
  return signDigest(passkeySigner(passkey, index), vetoDigest(account, 84532, { id, x, y }));
}

/** Another copy of the guardian's key proposes a fresh key for the account: a thief's, by default of the vault's own. */
export async function proposeElsewhere(
  { rpc, guardian }: RecoveryChain,
  account: Address.Address,
  commitment: string,
  privateKey: Hex.Hex = guardian.privateKey,
): Promise<Passkey> {
  const passkey = createPasskey();
  const propose = AbiFunction.fromAbi(account2Abi, 'proposeRecovery');
  const args = [...pointOf(passkey.key), Hex.padLeft('0x', 32), commitment as Hex.Hex] as const;
  await sendTransaction(rpc, privateKey, { to: account, data: AbiFunction.encodeData(propose, args) });
  return passkey;
}
