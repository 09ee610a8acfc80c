import * as v from 'valibot';
import { Address, about, Count, Did, ReadBlock, Whole, words } from './common.ts';

/** The vault's state, and the chain it serves. */
export const Status = v.object({
  chain: v.string(),
  chainId: Count,
  rpc: about(v.nullable(v.string()), 'A node for the public'),
  database: words('connected', 'unavailable'),
  version: v.string(),
  time: about(Whole, 'The vault’s clock, in seconds since 1970'),
  rpId: about(v.string(), 'The RP ID for new passkeys'),
  rpIds: about(v.array(v.string()), 'The RP IDs of passkeys that the vault takes'),
  brand: v.object({ name: about(v.string(), "The service's name") }),
  relays: about(v.boolean(), 'The vault registers DIDs on-chain itself'),
  enclave: v.optional(v.object({ sha256: v.string() })),
});

const contract = v.nullable(Address);

/** The contracts, null for those that are not deployed, and the DID that signs attestations. */
export const Contracts = v.object({
  chainId: Count,
  entryPoint: contract,
  didRegistry: contract,
  accountHelper: contract,
  sessionSBT: contract,
  hyperAuthFactory: contract,
  accountFactory2: contract,
  registrar: Did,
  guardian: about(contract, 'The address to name as guardian, if the vault is one'),
});

/** The origin of a request, as the vault sees it. */
export const Sighting = v.object({
  client: about(v.string(), 'The address that limits count'),
  peer: v.nullable(v.string()),
  trusted: v.boolean(),
  named: v.nullable(v.string()),
  forwarded: v.boolean(),
});

/** The process is alive. */
export const Alive = v.object({ ok: v.literal(true) });

/** Whether requests can be served; the members after `server` do not count for it. */
export const Readiness = v.object({
  ok: v.boolean(),
  database: words('writable', 'unavailable', 'stalled', 'damaged'),
  clock: v.optional(v.object({ offSeconds: Whole })),
  stopping: v.optional(v.literal(true)),
  server: v.optional(v.object({ sqlite: v.nullable(v.string()), survivesPowerLoss: v.nullable(v.boolean()) })),
  follower: v.optional(v.object({ block: ReadBlock, lag: Count })),
  relay: v.optional(about(v.string(), '`ok`, or what blocks it')),
  registry: v.optional(v.literal('missing')),
});

/** The registrar's DID document (DID Core 1.1). */
export const DidDocument = v.looseObject({ id: Did, verificationMethod: v.array(v.looseObject({ id: v.string() })) });

/** The origins that may use the vault's passkeys. */
export const RelatedOrigins = v.object({ origins: v.array(v.string()) });
