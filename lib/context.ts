import { createRefusedDomains, type RefusedDomains } from './admission/refused-domains.ts';
import { type Aliases, createAliases } from './aliases/aliases.ts';
import { systemClock } from './base/clock.ts';
import type { Fetch } from './base/http-client.ts';
import { atLevel } from './base/log.ts';
import { createMetrics, type Metrics, startAtZero } from './base/metrics.ts';
import { randomId, systemRandom } from './base/random.ts';
import { VERSION } from './base/version.ts';
import { type BrandOf, namesOf } from './brand/brands.ts';
import { type Bundler, createBundler } from './bundler/client.ts';
import { createPredictAddress, type PredictAddress } from './chain/account-address.ts';
import { createFindCreation, type FindCreation } from './chain/account-creation.ts';
import { readBlockTime } from './chain/blocks.ts';
import type { BlockRange } from './chain/log-range.ts';
import { createRegistryCode, type RegistryCode } from './chain/registry-code.ts';
import { createRegistryVersion, type RegistryVersion } from './chain/registry-version.ts';
import { createRpc } from './chain/rpc.ts';
import { createWitness } from './chain/witness.ts';
import type { Clients } from './clients/client.ts';
import { type Config, ConfigError, readConfig } from './config/config.ts';
import { describeSettings, type SettingView } from './config/describe.ts';
import { createClocks, uncompared } from './db/clocks.ts';
import type { Database } from './db/database.ts';
import { createLeases } from './db/leases.ts';
import { isServer } from './db/read-batches.ts';
import { createStore, type OwnedStore } from './db/store.ts';
import { createEmailSender, type EmailSender } from './delivery/email.ts';
import { chosenProvider, DELIVERY_CHANNELS, namesBut } from './delivery/providers.ts';
import { createSmsProvider, type SmsProvider } from './delivery/sms.ts';
import { createDoctor, type Doctor } from './doctor/service.ts';
import type { Begun, Env } from './env.ts';
import { createKeys } from './identity/keys.ts';
import { createIsReserved, type IsReserved } from './identity/reserved-handles.ts';
import { type AskIndexer, createAskIndexer } from './indexer/graphql-client.ts';
import { LIMITS } from './limits/catalogue.ts';
import type { Notices } from './limits/limit-events.ts';
import { createReadiness, type Readiness } from './monitoring/health.ts';
import type { MinuteState } from './monitoring/minutes.ts';
import { processFamilies } from './monitoring/process-metrics.ts';
import type { OpenIdParts } from './openid/parts.ts';
import { createPeople, type People } from './people.ts';
import type { KeepErasures } from './person/erase.ts';
import type { Platform } from './platform.ts';
import { prepareDatabase } from './prepare-database.ts';
import { createGuardian, type Guardian } from './recovery/guardian.ts';
import type { KeyNotes } from './registration/look-notes.ts';
import { createRelay, type Relay } from './relay/relay.ts';
import type { RelayRole } from './relay/requests.ts';
import type { ResolutionFacts } from './resolution/versions.ts';
import { createShared, type Shared } from './shared-state.ts';
import { createFiles, createSha256Of, type Files, type Sha256Of } from './static-files.ts';
import { createHub, type Hub } from './streams/hub.ts';
import { createAccepted } from './verification/accepted.ts';
import type { StrangersChecks } from './verification/find-code.ts';
import type { IssuerFacts } from './verification/token-issuer.ts';
import type { Words } from './words/words.ts';

/** All parts of a vault, assembled once: the ground parts and the subjects' own. */
export interface Context extends Platform, OpenIdParts {
  readonly db: OwnedStore;
  readonly hub: Hub;
  readonly notices: Notices;
  readonly minutes: MinuteState;
  readonly strangers: StrangersChecks;
  readonly issuerFacts: IssuerFacts;
  /** Records the acceptance of a code's message. */
  readonly accepted: (seq: number) => void;
  readonly keyNotes: KeyNotes;
  /** The brand that people see, by app. */
  readonly brandOf: BrandOf;
  /** The words for people, by language. */
  readonly words: Words;
  readonly wordsOf: People['wordsOf'];
  readonly isReserved: IsReserved;
  /** Mail domains that cannot be registered. */
  readonly refusedDomains: RefusedDomains;
  readonly email: EmailSender;
  readonly sms: SmsProvider;
  readonly predict: PredictAddress;
  readonly findCreation: FindCreation;
  readonly registryVersion: () => Promise<RegistryVersion>;
  readonly registryCode: RegistryCode;
  readonly aliases: Aliases;
  readonly resolutionFacts: ResolutionFacts;
  /** Undefined without a `REGISTRAR_PRIVATE_KEY`. */
  readonly relay: Relay | undefined;
  /** Undefined without a `GUARDIAN_PRIVATE_KEY`. */
  readonly guardian: Guardian | undefined;
  readonly searchRange: BlockRange;
  /** Undefined without a `BUNDLER_URL`. */
  readonly bundler: Bundler | undefined;
  /** Undefined without `INDEXER_URL`: then the vault answers from the index of its own follower. */
  readonly askIndexer: AskIndexer | undefined;
  readonly files: Files;
  readonly sha256Of: Sha256Of;
  readonly readiness: () => Promise<Readiness>;
  readonly doctor: Doctor;
  readonly webhookFetch: Fetch;
  readonly keepErasures: KeepErasures | undefined;
  readonly trustClientIpHeader: boolean;
  /** The settings in force, without secrets. */
  readonly settings: () => readonly SettingView[];
  /** Whether `TRUSTED_PROXIES` was set; its default is for development. */
  readonly namesProxies: boolean;
  readonly isolatesRequests: boolean;
  /** Runs one request or one turn of background work; where requests are isolated, in a context of its own. */
  readonly run: <T>(work: (ctx: Context) => Promise<T> | T) => Promise<T> | T;
}

/** The parts in which one caller may wait for another: queues, commits, batches, locks, streams. */
type Waiting =
  | 'db'
  | 'hub'
  | 'leases'
  | 'clocks'
  | 'rpc'
  | 'witness'
  | 'predict'
  | 'findCreation'
  | 'registryVersion'
  | 'registryCode'
  | 'aliases'
  | 'relay'
  | 'guardian'
  | 'readiness'
  | 'accepted';

/** The parts that isolated requests share. */
type Lasting = Omit<Context, Waiting> & { readonly fetch: Fetch };

/** Reads the settings and assembles a vault's parts. Throws `ConfigError` naming every faulty setting. */
export function createContext(env: Env, { config = readConfig(env.vars), isPrepared = false }: Begun = {}): Context {
  const { clock = systemClock, random = systemRandom, trustClientIpHeader = false, isolatesRequests = false } = env;
  const fetch: Fetch = env.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const log = atLevel(config.logLevel, env.log ?? (() => undefined));
  const shared = createShared(config, isPrepared, env.database.damage);
  const { notices, minutes, strangers, issuerFacts, keyNotes, openId, searchRange, resolutionFacts } = shared;
  const files = createFiles(env.assets);
  const { clients, brandOf, words, wordsOf } = createPeople(config, env.operatorFiles);
  const metrics = openMetrics(env, clients);
  const outside = { config, clock, random, log, metrics, fetch, clients, brandOf, words, wordsOf };
  const { bundlerUrl, indexerUrl, vaultSecret, attestationSigningKey, reservedIdentifiers, reservedDomains } = config;
  const lasting: Lasting = {
    ...outside,
    isReserved: createIsReserved({ reservedIdentifiers, reservedDomains, names: namesOf(config, brandOf) }),
    files,
    sha256Of: createSha256Of(env.assets, files),
    keys: createKeys(vaultSecret, attestationSigningKey),
    refusedDomains: createRefusedDomains(config, env.operatorFiles),
    email: createEmailSender({ ...outside, mail: env.mail }),
    sms: createSmsProvider(outside),
    bundler: bundlerUrl === undefined ? undefined : createBundler({ ...outside, url: bundlerUrl }),
    askIndexer: indexerUrl === undefined ? undefined : createAskIndexer({ ...outside, url: indexerUrl }),
    doctor: createDoctor({ fetch, last: shared.doctor }, env.doctor),
    ...{ notices, minutes, strangers, issuerFacts, keyNotes, searchRange, resolutionFacts, ...openId },
    webhookFetch: env.webhookFetch ?? fetch,
    documentFetch: env.documentFetch ?? fetch,
    keepErasures: env.keepErasures,
    trustClientIpHeader,
    settings: () => describeSettings(env.vars).toSorted((a, b) => Number(b.changed) - Number(a.changed)),
    namesProxies: isSet(env.vars['TRUSTED_PROXIES']),
    isolatesRequests,
    run: (work) => (isolatesRequests ? runAlone(connect(), work) : work(context)),
  };
  const owner = randomId(random);
  const connect = (): Context => ({ ...lasting, ...createWaiting(lasting, shared, env.database, owner) });
  const context = connect();
  return context;
}

/** Throws `ConfigError` where codes are to be printed and the host gave no log: they would go nowhere. */
export function demandLog({ config }: Pick<Context, 'config'>, { log }: Env): void {
  if (log) return;
  const faults = DELIVERY_CHANNELS.flatMap((channel) => {
    const provider = chosenProvider(channel, config);
    if (!provider?.prints) return [];
    const remedy = `give createVault a log, such as console.log, or set ${namesBut(provider, channel)}`;
    return [{ name: channel.setting, problem: 'must not be log where createVault has no log', remedy }];
  });
  if (faults.length > 0) throw new ConfigError(faults);
}

/** Makes the parts in which one caller may wait for another; `owner` names the process in leases. */
function createWaiting(lasting: Lasting, shared: Shared, database: Database, owner: string): Pick<Context, Waiting> {
  const { config, clock, metrics } = lasting;
  const { databaseMaxConnections: maxConnections, registrarPrivateKey, guardianPrivateKey } = config;
  const written = metrics.counter('vault_events_total').of({});
  const migrate = (own: Database) => prepareDatabase(own, clock, config);
  const onEvents = (events: number) => {
    written.add(events);
    hub.wake();
  };
  const db = createStore({ ...lasting, ...shared.known, database, maxConnections, migrate, onEvents });
  const hub: Hub = createHub({ ...lasting, open: shared.open, db });
  const rpc = createRpc({ ...lasting, urls: rpcUrls(config) });
  const witness = createWitness(lasting, shared.witnessFacts);
  const block = () => readBlockTime({ config, rpc });
  const clocks = lasting.isolatesRequests ? uncompared : createClocks({ ...lasting, db, block });
  const leases = createLeases({ db, clock, owner, clocks });
  const chain = { ...lasting, db, leases, rpc, witness };
  const predict = createPredictAddress(chain, shared.factoryFacts);
  const relayOf = (role: RelayRole, key: `0x${string}`) =>
    createRelay({ ...chain, predict, role, schedule: shared.schedules[role] }, key);
  return {
    db,
    hub,
    clocks,
    leases,
    rpc,
    witness,
    predict,
    findCreation: createFindCreation(chain, shared.factoryFacts),
    registryVersion: createRegistryVersion(chain, shared.registryFacts),
    registryCode: createRegistryCode(chain, shared.registryCodeFacts),
    aliases: createAliases(chain, shared.aliasFacts),
    relay: registrarPrivateKey && relayOf('registrar', registrarPrivateKey),
    guardian: guardianPrivateKey && createGuardian(relayOf('guardian', guardianPrivateKey), guardianPrivateKey),
    readiness: createReadiness({ ...lasting, db, clocks, hub, onServer: isServer(database) }),
    accepted: createAccepted(db),
  };
}

function isSet(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}

/** The metrics with `vault_build_info` and, where the host provides them, the process's own. */
function openMetrics({ process: readProcess }: Env, clients: Clients | undefined): Metrics {
  const metrics = createMetrics();
  startAtZero(metrics, { client: [...(clients?.keys() ?? [])] });
  for (const limit of Object.keys(LIMITS)) metrics.counter('vault_limits_reached_total').of({ limit });
  metrics.gauge('vault_build_info').set(1, { version: VERSION });
  if (readProcess) metrics.include(() => processFamilies(readProcess()));
  return metrics;
}

/** Ends only when everything that was started has ended, awaited or not. */
async function runAlone<T>(ctx: Context, work: (ctx: Context) => Promise<T> | T): Promise<T> {
  try {
    return await work(ctx);
  } finally {
    await ctx.db.idle();
  }
}

/** The endpoint of each chain the vault reads: `RPC_URL` for the configured one, else the chain's own. */
function rpcUrls(config: Config): Record<number, string> {
  return { 84532: config.rpcUrl84532, 8453: config.rpcUrl8453, [config.chainId]: config.rpcUrl };
}
