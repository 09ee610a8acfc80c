import * as v from 'valibot';
import { Address, about, Count, Decimal, Hash, Whole } from './common.ts';

const NotFound = v.object({ found: v.literal(false) });

/** Where an event is; absent where the contracts themselves were asked. */
const minedIn = { block_number: v.optional(Decimal), tx_hash: v.optional(Hash) };

/** The DID of an alias. */
export const IndexedAlias = v.union([
  v.object({
    found: v.literal(true),
    alias_hash: Hash,
    did_hash: Hash,
    active: v.boolean(),
    controller: v.nullable(Address),
  }),
  NotFound,
]);

/** A DID of the registry. */
export const IndexedDid = v.union([
  v.object({
    found: v.literal(true),
    did_hash: Hash,
    controller: Address,
    metadata_cid: v.string(),
    active: v.boolean(),
    ...minedIn,
  }),
  NotFound,
]);

/** An account that the factory made. */
export const IndexedAccount = v.union([
  v.object({ found: v.literal(true), account_address: Address, owner_address: Address, ...minedIn }),
  NotFound,
]);

/** Counts up to the last block that was read. */
export const IndexStatistics = v.object({
  total_dids: Count,
  active_dids: Count,
  total_aliases: Count,
  total_accounts: Count,
  last_block_number: Decimal,
});

/** Whether the index is up to date. */
export const IndexHealth = v.object({ ok: v.boolean(), chain: Count });

const id = v.nullable(v.union([v.string(), v.number()]));
const JsonRpcRequest = v.object({
  jsonrpc: v.literal('2.0'),
  id,
  method: about(v.string(), 'One of the methods that are forwarded'),
  params: v.array(v.unknown()),
});

/** A JSON-RPC 2.0 request, or a batch of up to 10. */
export const JsonRpcCall = v.union([JsonRpcRequest, v.array(JsonRpcRequest)]);

/** The bundler's answer, or why it was not asked. */
export const JsonRpcOutcome = v.union([
  v.object({ jsonrpc: v.literal('2.0'), id, result: about(v.unknown(), "The bundler's") }),
  v.object({
    jsonrpc: v.literal('2.0'),
    id,
    error: v.object({
      code: Whole,
      message: v.string(),
      data: v.optional(
        about(v.looseObject({ kind: v.optional(v.string()) }), 'The failure; members of the bundler beside `kind`'),
      ),
    }),
  }),
]);

/** The outcome of a JSON-RPC call, or of each of a batch in its place. */
export const JsonRpcAnswer = v.union([JsonRpcOutcome, v.array(JsonRpcOutcome)]);
