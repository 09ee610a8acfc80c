import * as v from 'valibot';
import { Address, about, Channel, Count, Did, Hash, Time, Whole, words } from './common.ts';

const subject = { identifier: v.string(), channel: Channel };
const available = {
  available: v.boolean(),
  reason: v.optional(words('identifier_reserved', 'identifier_taken')),
};

/** A session holds an identifier. */
export const SessionOpened = v.object({ ok: v.literal(true), ...subject, did: Did });

/** How many sessions there are, of the client's address and in all. */
export const SessionCounts = v.object({
  ip_registrations: about(Count, 'Registrations of this address in the limit'),
  ip_limit: Count,
  total_registrations: Count,
});

/** Whether an identifier may still be registered. */
export const Availability = v.object({ ...subject, ...available });

/** Whether a handle may still be registered, and its hash in the registry. */
export const AliasAvailability = v.object({ alias: v.string(), aliasHash: Hash, ...available });

/** The move of an address whose holder has a passkey. */
const waiting = {
  holds: v.optional(about(v.literal(false), 'The address belongs to another account, and moves after a while')),
  moves_at: v.optional(about(Time, 'When it moves, at the earliest')),
};

/** A registration is recorded; `status` is there where the vault registers the DID itself. */
export const Registered = v.object({
  ok: v.literal(true),
  ...subject,
  txHash: Hash,
  ...waiting,
  status: v.optional(v.literal('confirmed')),
});

/** The vault is registering the DID: it is in no block yet. */
export const RegistrationSubmitted = v.object({
  ok: v.literal(true),
  ...subject,
  txHash: Hash,
  ...waiting,
  status: v.literal('submitted'),
});

/** Whether an address has moved, or will once the claim of the other DID is final. */
export const Released = v.object({ ok: v.literal(true), moved: v.boolean() });

/** Where a credential leads. */
export const DidRecord = v.object({
  credentialId: v.string(),
  did: Did,
  channel: Channel,
  status: words('submitted', 'confirmed'),
  final: about(v.boolean(), 'Its block is final: no re-org takes it back'),
  proven: about(v.boolean(), 'The passkey signs for the controller of the DID'),
  proofs: v.object({
    identifier: v.nullable(words('attestation', 'alias')),
    controller: v.nullable(v.literal('passkey')),
    did: v.nullable(words('address', 'moved')),
  }),
  ambiguous: v.optional(about(v.literal(true), 'Another DID claims the credential too: send its key')),
  txHash: about(v.nullable(Hash), 'Null while the registration is queued'),
  blockNumber: v.nullable(Count),
  smartAccount: about(v.nullable(Address), 'The controller in the registry; null until its event is read'),
  pubKeyX: v.nullable(Hash),
  pubKeyY: v.nullable(Hash),
  signed: v.optional(
    about(
      v.object({ authenticatorData: v.string(), clientDataHash: v.string(), signature: v.string() }),
      'The registration assertion of the key in the look-up, base64url',
    ),
  ),
  moves_at: waiting.moves_at,
  challenges: v.optional(
    about(
      v.array(v.object({ channel: Channel, did: Did, moves_at: v.nullable(Time) })),
      'With the key: other DIDs that have claimed an address of this one, and when that moves, null until it is known',
    ),
  ),
  registeredAt: Time,
  checkedAt: about(v.nullable(Time), 'The last look at the chain; null until the block is final'),
});

const ShownRegistration = v.object({
  id: Count,
  app: v.string(),
  identifier: about(v.string(), 'Masked unless it was searched by'),
  channel: Channel,
  did: Did,
  credentialId: v.string(),
  status: words('submitted', 'confirmed', 'failed'),
  failure: about(v.nullable(v.string()), 'Why it failed'),
  lost: about(v.nullable(v.string()), 'Why it lost its handle'),
  final: v.boolean(),
  holder: about(v.boolean(), 'It holds its identifier'),
  proven: v.boolean(),
  txHash: v.nullable(Hash),
  blockNumber: v.nullable(Whole),
  smartAccount: v.nullable(Address),
  registeredAt: Time,
});

const ShownSession = v.object({
  identifier: about(v.string(), 'Masked unless it was searched by'),
  channel: Channel,
  app: v.string(),
  did: Did,
  status: about(words('open', 'linked', 'lapsed'), 'Linked to a DID, open until it is, or about to be removed'),
  createdAt: Time,
  expiresAt: about(v.nullable(Time), 'Null while it is linked'),
});

const page = {
  next: about(v.nullable(v.string()), 'The `cursor` of the rows that follow; null at the end'),
  searchedTo: about(v.nullable(Time), 'How far back rows were looked through; null at the end'),
  total: about(
    v.nullable(v.object({ count: Count, exact: v.boolean() })),
    'How many there are, or at least; null with a cursor and for a look-up',
  ),
};

/** Registrations, the newest first. */
export const Registrations = v.object({ registrations: v.array(ShownRegistration), ...page });

/** Sessions, the newest first. */
export const Sessions = v.object({ sessions: v.array(ShownSession), ...page });

/** A registration in detail. */
export const RegistrationDetail = v.object({
  registration: ShownRegistration,
  watch: v.object({
    checks: about(Count, 'How often the chain was asked about it'),
    nextCheckAt: about(v.nullable(Time), 'Null when it is no longer watched'),
  }),
  evidence: v.object({
    key: about(v.nullable(v.string()), 'The public key whose proof was verified: 0x and x, y in hex; null without one'),
    lookedAt: about(v.nullable(Time), 'The last look at the chain; null until the block is final'),
  }),
  relay: about(
    v.nullable(
      v.object({
        status: words('queued', 'signed', 'mined', 'confirmed', 'failed'),
        failure: v.nullable(v.string()),
        signer: v.nullable(Address),
        nonce: v.nullable(Count),
        queuedAt: Time,
      }),
    ),
    'The call by which the vault registers it; null where the client did',
  ),
  session: v.nullable(ShownSession),
  verifiedAt: about(v.nullable(Time), 'When the identifier was last verified'),
  codes: v.array(
    v.object({
      sentAt: Time,
      expiresAt: Time,
      delivery: words('pending', 'accepted', 'refused', 'lost'),
      attempts: about(Count, 'Checks that were spent'),
      verifiedAt: v.nullable(Time),
    }),
  ),
  others: about(v.array(ShownRegistration), 'Other registrations of the identifier, the newest first'),
  chain: v.object({
    chainId: Count,
    name: v.string(),
    registry: about(v.nullable(Address), 'The registry that decides'),
    explorer: about(
      v.nullable(v.string()),
      '`/tx/<hash>`, `/block/<number>` and `/address/<account>` below it are pages',
    ),
  }),
});

/** A registration that was undone, and the one that holds its identifier now. */
export const RegistrationUndone = v.object({
  ok: v.literal(true),
  id: Count,
  did: Did,
  holder: v.nullable(v.object({ id: Count, did: Did })),
});
