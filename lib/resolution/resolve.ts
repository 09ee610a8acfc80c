/** W3C DID Resolution 1.0 of the DIDs that the chain decides, and of the vault's own did:web. */
import { VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import type { RegistryVersion } from '../chain/registry-version.ts';
import { agreed } from '../chain/witness.ts';
import { methodOf, namedAccount } from '../identity/did.ts';
import { registrarDocument } from '../identity/did-document.ts';
import type { Platform } from '../platform.ts';
import { findPredictedKey } from '../registration/predicted-key.ts';
import { credentialKeys, type SigningContext } from '../signing/signing-keys.ts';
import { accountMethodsOf, documentOf, metadataOf } from './document.ts';
import { ResolutionError } from './fault.ts';
import { type AskedDid, readDidState } from './read-state.ts';
import { checkVersion, chooseBlock, type ResolutionFacts, type Version } from './versions.ts';

type Json = Readonly<Record<string, unknown>>;

/** A DID that was found; `document` is null for one that was ended. */
export interface ResolvedDid {
  readonly document: Json | null;
  readonly metadata: Json;
  /** It will never be answered otherwise. */
  readonly isFinal: boolean;
}

/** What a resolution needs. */
export type ResolutionContext = Pick<
  Platform,
  'config' | 'clock' | 'db' | 'keys' | 'rpc' | 'witness' | 'log' | 'metrics'
> &
  SigningContext & {
    readonly predict: PredictAddress;
    readonly registryVersion: () => Promise<RegistryVersion>;
    readonly resolutionFacts: ResolutionFacts;
  };

/**
 * Resolves a DID, at a version if one is named; `spend` pays for a search by time, which reads many headers. Throws
 * `ResolutionError`, what `spend` throws, and 503 `database_unavailable`.
 */
export async function resolveDid(
  ctx: ResolutionContext,
  did: string,
  version: Version,
  spend: () => void,
): Promise<ResolvedDid> {
  checkDid(did);
  checkVersion(version);
  if (did.startsWith('did:web:')) return resolveWeb(ctx, did, version);
  const asked = accountIn(ctx.config, did);
  const { didRegistryAddress: registry } = ctx.config;
  if (registry === null) throw new ResolutionError('FEATURE_NOT_SUPPORTED', 'This vault reads no registry.');
  if (version.versionTime !== undefined) spend();
  try {
    return await readAsked(ctx, asked, registry, version);
  } catch (failure) {
    if (!(failure instanceof VaultError && failure.code === 'rpc_error')) throw failure;
    ctx.log({ level: 'warn', event: 'did_not_resolved', ...describeError(failure) });
    throw new ResolutionError('INTERNAL_ERROR', failure.details.hint ?? SILENT, { cause: failure });
  }
}

const SILENT = 'The node of the chain does not answer: ask again later.';

function checkDid(did: string): void {
  const method = methodOf(did);
  if (method === undefined)
    throw new ResolutionError(
      'INVALID_DID',
      'This is no DID by the grammar of DID Core. DID URLs are not dereferenced.',
    );
  if (!['pkh', 'hyper', 'web'].includes(method))
    throw new ResolutionError(
      'METHOD_NOT_SUPPORTED',
      'did:pkh, did:hyper and the vault’s own did:web are resolved here.',
    );
}

async function resolveWeb(
  ctx: ResolutionContext,
  did: string,
  { versionId, versionTime }: Version,
): Promise<ResolvedDid> {
  const keys = did === ctx.config.registrarDid ? await credentialKeys(ctx) : [];
  const document = registrarDocument(ctx, keys);
  if (document?.['id'] !== did)
    throw new ResolutionError(
      'FEATURE_NOT_SUPPORTED',
      'Of did:web the vault’s own is resolved here: nothing is fetched.',
    );
  if (versionId !== undefined || versionTime !== undefined)
    throw new ResolutionError('FEATURE_NOT_SUPPORTED', 'This document has no versions.');
  return { document, metadata: {}, isFinal: false };
}

/** Throws `ResolutionError` for a label and for an account of another chain. */
function accountIn({ chainId }: ResolutionContext['config'], did: string): AskedDid {
  const named = namedAccount(did);
  if (named?.chainId === chainId) return { did, ...named };
  const detail = named
    ? `This vault reads chain ${chainId} alone.`
    : `Only a DID that names an account of chain ${chainId} is resolved: nothing proves who controls another one.`;
  throw new ResolutionError('FEATURE_NOT_SUPPORTED', detail);
}

async function readAsked(
  ctx: ResolutionContext,
  asked: AskedDid,
  registry: string,
  version: Version,
): Promise<ResolvedDid> {
  const [edition, block] = await Promise.all([ctx.registryVersion(), chooseBlock(ctx, version)]);
  const place = { block, registry, edition };
  const state = await agreed(ctx, 'registration', (chain) => readDidState(chain, asked, place));
  const metadata = metadataOf(asked, state, place);
  if (state.entry?.active === false) return { document: null, metadata, isFinal: block.isFinal };
  if (asked.method === 'hyper' && !state.entry)
    throw new ResolutionError('NOT_FOUND', 'The account that this DID names has not registered it.');
  const hasCode = state.code !== '0x';
  const dids = [asked.did, ...(state.entry ? [state.entry.text] : [])];
  const predicted = hasCode ? undefined : await findPredictedKey(ctx, { account: state.controller, dids });
  const document = documentOf(asked, state, accountMethodsOf(state, predicted));
  // The key of an account without code is known from this vault's records, which may change.
  return { document, metadata, isFinal: block.isFinal && hasCode };
}
