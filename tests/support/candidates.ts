import { AbiFunction, type Address, Base64, Hex } from 'ox';
import { accountFactoryAbi, didRegistryAbi } from '../../contracts/abi.ts';
import { TOPICS } from '../../lib/chain/followed-contracts.ts';
import { didHash } from '../../lib/identity/did.ts';
import { parseIdentifier } from '../../lib/identity/identifier.ts';
import { createKeys } from '../../lib/identity/keys.ts';
import { signAttestation } from '../../lib/verification/attestation.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { type Ceremony, createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
import { type ProofOptions, type ProofVault, proveRegistration } from '../../scripts/dev-stack/passkey-proof.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { startTestChain, type TestChain } from './onchain.ts';
import { VAULT_SECRET } from './vault.ts';

/** A chain where a registrar may register others' DIDs, for their accounts of a factory. */
export interface RelayChain extends TestChain {
  readonly factory: Address.Address;
  readonly registrar: Address.Address;
  /** What the registry says of a DID: its controller, zero when it has none. */
  controllerOf(did: string): Promise<string>;
  /** How many DIDs were registered, and how many of them twice. */
  registered(): Promise<{ events: number; twice: number }>;
  /** How many transactions of the registrar's were mined. */
  nonce(): Promise<number>;
}

/** Somebody with a proven address and a passkey, and without ether. */
export interface Candidate {
  readonly did: string;
  readonly credentialId: string;
  readonly smartAccount: string;
  readonly passkey: Passkey;
  /** The body of the `POST /api/dids` that asks the vault to register them. */
  readonly body: Readonly<Record<string, unknown>>;
}

const REGISTRAR_DID = 'did:web:registrar.example';

/** Starts a chain with the contracts and a funded registrar, whose key is in `vars`. */
export async function startRelayChain(options: Parameters<typeof startTestChain>[0] = {}): Promise<RelayChain> {
  const chain = await startTestChain(options);
  const { rpc, registry } = chain;
  const { accountFactory: factory } = await deployContracts(rpc);
  const { address: registrar, privateKey } = devAccount('registrar');
  const resolve = AbiFunction.fromAbi(didRegistryAbi, 'resolve');

  return {
    ...chain,
    factory,
    registrar,
    vars: {
      ...chain.vars,
      HYPERAUTH_FACTORY_ADDRESS: factory,
      REGISTRAR_DID,
      REGISTRAR_PRIVATE_KEY: privateKey,
      MAX_REGISTRATIONS_PER_IP: '1000',
      RELAY_DAILY_MAX: '1000000',
    },
    async controllerOf(did) {
      const data = AbiFunction.encodeData(resolve, [didHash(did)]);
      const answer = (await rpc('eth_call', [{ to: registry, data }, 'latest'])) as Hex.Hex;
      return `0x${answer.slice(26, 66)}`;
    },
    async registered() {
      const filter = { address: registry, fromBlock: '0x0', toBlock: 'latest', topics: [TOPICS.DIDRegistered] };
      const logs = (await rpc('eth_getLogs', [filter])) as { topics: string[] }[];
      const dids = new Set(logs.map(({ topics }) => topics[1]));
      return { events: logs.length, twice: logs.length - dids.size };
    },
    nonce: async () => Number(await rpc('eth_getTransactionCount', [registrar, 'latest'])),
  };
}

/**
 * A candidate nobody heard of before, with a DID that names its account or with `otherDid`; attested until an hour after
 * `now`.
 */
export async function createCandidate(
  chain: Pick<RelayChain, 'rpc' | 'factory' | 'registry'>,
  name: string,
  now = Date.now(),
  otherDid?: string,
): Promise<Candidate> {
  const passkey = createPasskey();
  const [x, y] = [Hex.fromBytes(passkey.key.x), Hex.fromBytes(passkey.key.y)];
  const getAddress = AbiFunction.fromAbi(accountFactoryAbi, 'getAddress');
  const call = { to: chain.factory, data: AbiFunction.encodeData(getAddress, [BigInt(x), BigInt(y), 0n]) };
  const smartAccount = `0x${String(await chain.rpc('eth_call', [call, 'latest'])).slice(26)}`;
  const credentialId = Base64.fromBytes(new TextEncoder().encode(name.padEnd(16, '.')), { url: true, pad: false });
  const did = otherDid ?? `did:pkh:eip155:84532:${smartAccount}`;
  const candidate = { did, credentialId, smartAccount, passkey };
  const identifier = parseIdentifier('email', `${name}@example.com`);
  const attestation = signAttestation(createKeys(Hex.toBytes(`0x${VAULT_SECRET}`)).attestation, {
    identifier,
    verifiedAt: now,
    ttlSeconds: 3_600,
    registrar: REGISTRAR_DID,
  });
  const who = { credentialId, identifier: identifier.value, channel: 'email', did };
  const given = { ...who, smartAccount, pubKeyX: x, pubKeyY: y, attestation };
  const body = { ...given, ...proveRegistration(passkey, vaultOf(chain), { ...given }, { now }) };
  return { ...candidate, body };
}

/** What the candidate's passkey signs for its body, with a part of it replaced. */
export function prove(
  chain: Pick<RelayChain, 'registry'>,
  { did, credentialId, smartAccount, passkey, body }: Candidate,
  change: ProofOptions['change'] = {},
  ceremony: Ceremony = {},
) {
  const { identifier, attestation, proofExpiresAt } = body;
  const request = { identifier: String(identifier), channel: 'email', did, credentialId, smartAccount, attestation };
  const changes = { expiresAt: Number(proofExpiresAt), ...change };
  return proveRegistration(passkey, vaultOf(chain), request, { change: changes, ceremony }).proof;
}

function vaultOf({ registry }: Pick<RelayChain, 'registry'>): ProofVault {
  return { registrar: REGISTRAR_DID, chainId: 84532, didRegistry: registry };
}
