import { createRefusedDomains, type RefusedDomains } from './admission/refused-domains.ts';
import { type Aliases, createAliases } from './aliases/aliases.ts';
import { type Clock, systemClock } from './base/clock.ts';
import type { Fetch } from './base/http-client.ts';
import { addLazily, copyOf } from './base/lazily.ts';
import { atLevel, type Log } from './base/log.ts';
import { createMetrics, type Metrics, startAtZero } from './base/metrics.ts';
import type { OperatorFiles } from './base/operator-files.ts';
import { type Random, randomId, systemRandom } from './base/random.ts';
import { VERSION } from './base/version.ts';
import type { BrandOf } from './brand/brands.ts';
import { type Bundler, createBundler } from './bundler/client.ts';
import { createPredictAddress, type PredictAddress } from './chain/account-address.ts';
import { createFindCreation, type FindCreation } from './chain/account-creation.ts';
import { readBlockTime } from './chain/blocks.ts';
import type { BlockRange } from './chain/log-range.ts';
import { createRegistryCode, type RegistryCode } from './chain/registry-code.ts';
import { createRegistryVersion, type RegistryVersion } from './chain/registry-version.ts';
import { createRpc } from './chain/rpc.ts';
import { createWitness } from './chain/witness.ts';
import { type Config, readConfig } from './config/config.ts';
import { createClocks, uncompared } from './db/clocks.ts';
import type { Database } from './db/database.ts';
import { createLeases } from './db/leases.ts';
import { isServer } from './db/read-batches.ts';
import { createStore, type OwnedStore } from './db/store.ts';
import { createEmailSender, type EmailSender } from './delivery/email.ts';
import { createSmsProvider, type SmsProvider } from './delivery/sms.ts';
import type { Mailer } from './delivery/smtp.ts';
import { createDoctor, type Doctor, type OpenHost } from './doctor/service.ts';
import { createKeys } from './identity/keys.ts';
import { type AskIndexer, createAskIndexer } from './indexer/graphql-client.ts';
import { LIMITS } from './limits/catalogue.ts';
import type { Notices } from './limits/limit-events.ts';
import { createReadiness, type Readiness } from './monitoring/health.ts';
import type { MinuteState } from './monitoring/minutes.ts';
import { type ProcessState, processFamilies } from './monitoring/process-metrics.ts';
import { createPeople, type People } from './people.ts';
import type { KeepErasures } from './person/erase.ts';
import type { Platform } from './platform.ts';
import { prepareDatabase } from './prepare-database.ts';
import { createGuardian, type Guardian } from './recovery/guardian.ts';
import type { KeyNotes } from './registration/look-notes.ts';
import { createRelay, type Relay } from './relay/relay.ts';
import type { RelayRole } from './relay/requests.ts';
import { createShared } from './shared-state.ts';
import { type Assets, createFiles, createSha256Of, type Files, type Sha256Of } from './static-files.ts';
import { createHub, type Hub } from './streams/hub.ts';
import { createAccepted } from './verification/accepted.ts';
import type { StrangersChecks } from './verification/find-code.ts';
import type { Words } from './words/words.ts';

/** Everything the vault takes from outside, given once. Only `vars` and `database` are required. */
export interface Env {
  /** Settings as strings by their variable names (`docs/settings.md`). */
  readonly vars: Readonly<Record<string, string | undefined>>;
  /** Where everything is stored; a `Client` of `@libsql/client` fits as it is. */
  readonly database: Database;
  /** Sends mail over SMTP; required when `EMAIL_PROVIDER` is `smtp`. */
  readonly mail?: Mailer | undefined;
  /** The static files (`docs/embedding.md`); without it their paths answer 404. */
  readonly assets?: Assets | undefined;
  /** The files that settings such as `BRAND_LOGO` and `REFUSED_MAIL_DOMAINS_FILE` name; required where they are set. */
  readonly operatorFiles?: OperatorFiles | undefined;
  /**
   * Whether `CLIENT_IP_HEADER` is trusted on requests without a `peer`: true only behind a proxy that overwrites it.
   */
  readonly trustClientIpHeader?: boolean;
  /**
   * Isolate requests: no shared queues or commits, and a reply is sent only when all that its request started is
   * done. True on Workers, where work ends with its request.
   */
  readonly isolatesRequests?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly fetch?: Fetch;
  /**
   * Posts webhooks where the host can check the address that it connects to (`docs/webhooks.md`); else `fetch` does.
   */
  readonly webhookFetch?: Fetch | undefined;
  /** Keeps a list of erasures outside the database, for a restore (`docs/privacy.md`). */
  readonly keepErasures?: KeepErasures | undefined;
  /** Reads the resources of the host's process, for `/metrics`. */
  readonly process?: (() => ProcessState) | undefined;
  /** What the doctor may look at beyond Fetch: the host's files, disk and names. */
  readonly doctor?: OpenHost | undefined;
  /** The log sink; entries are already masked. Default: none. */
  readonly log?: Log;
}

/** What a host has done already, so that the vault does not do it again. */
export interface Begun {
  /** The settings, read from `vars`. */
  readonly config?: Config;
  /** Whether `prepareDatabase` has run on the database. */
  readonly isPrepared?: boolean;
}

/** All parts of a vault, assembled once: the ground parts and the subjects' own. */
export interface Context extends Platform {
  readonly db: OwnedStore;
  readonly hub: Hub;
  readonly notices: Notices;
  readonly minutes: MinuteState;
  readonly strangers: StrangersChecks;
  /** Records the acceptance of a code's message. */
  readonly accepted: (seq: number) => void;
  readonly keyNotes: KeyNotes;
  /** What people see of the service, by app. */
  readonly brandOf: BrandOf;
  /** What it says to them, by language. */
  readonly words: Words;
  readonly wordsOf: People['wordsOf'];
  /** Mail domains that cannot be registered. */
  readonly refusedDomains: RefusedDomains;
  readonly email: EmailSender;
  readonly sms: SmsProvider;
  readonly predict: PredictAddress;
  readonly findCreation: FindCreation;
  readonly registryVersion: () => Promise<RegistryVersion>;
  readonly registryCode: RegistryCode;
  readonly aliases: Aliases;
  /** Undefined without a `REGISTRAR_PRIVATE_KEY`. */
  readonly relay: Relay | undefined;
  /** Undefined without a `GUARDIAN_PRIVATE_KEY`. */
  readonly guardian: Guardian | undefined;
  readonly searchRange: BlockRange;
  /** Undefined without a `BUNDLER_URL`. */
  readonly bundler: Bundler | undefined;
  /** Undefined without `INDEXER_URL`: then the vault answers from what its own follower has read. */
  readonly askIndexer: AskIndexer | undefined;
  readonly files: Files;
  readonly sha256Of: Sha256Of;
  readonly readiness: () => Promise<Readiness>;
  readonly doctor: Doctor;
  readonly webhookFetch: Fetch;
  readonly keepErasures: KeepErasures | undefined;
  readonly trustClientIpHeader: boolean;
  /** Whether `TRUSTED_PROXIES` was set; its default is for development. */
  readonly namesProxies: boolean;
  readonly isolatesRequests: boolean;
  /** Runs one request or one turn of background work; where requests are isolated, in a context of its own. */
  readonly run: <T>(work: (ctx: Context) => Promise<T> | T) => Promise<T> | T;
}

/** Reads the settings and assembles a vault's parts. Throws `ConfigError` naming every faulty setting. */
export function createContext(env: Env, { config = readConfig(env.vars), isPrepared = false }: Begun = {}): Context {
  const { clock = systemClock, random = systemRandom, trustClientIpHeader = false } = env;
  const fetch: Fetch = env.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const log = atLevel(config.logLevel, env.log ?? (() => undefined));
  const metrics = openMetrics(env);
  const owner = randomId(random);
  const shared = createShared(config, isPrepared, env.database.damage);
  const { known, open } = shared;
  const people = createPeople(config, env.operatorFiles);
  const outside = { config, clock, random, log, metrics, fetch, brandOf: people.brandOf, wordsOf: people.wordsOf };
  const { registrarPrivateKey, guardianPrivateKey, bundlerUrl, indexerUrl } = config;
  const written = metrics.counter('vault_events_total').of({});
  /** Adds the parts in which one caller may wait for another: queues, commits, batches, locks, streams. */
  const connect = <T extends object>(others: T) => {
    const { databaseMaxConnections: maxConnections } = config;
    const migrate = (database: Database) => prepareDatabase(database, clock, config);
    const onEvents = (events: number) => {
      written.add(events);
      hub.wake();
    };
    const db = createStore({ ...outside, ...known, database: env.database, maxConnections, migrate, onEvents });
    const hub: Hub = createHub({ ...outside, open, db });
    const block = () => readBlockTime(chain);
    const clocks = env.isolatesRequests ? uncompared : createClocks({ ...outside, db, block });
    const leases = createLeases({ db, clock, owner, clocks });
    const chain = addLazily(copyOf(outside), {
      rpc: () => createRpc({ ...outside, urls: rpcUrls(config) }),
      witness: () => createWitness(outside, shared.witnessFacts),
      predict: (): PredictAddress => createPredictAddress(chain, shared.factoryFacts),
    });
    const relayOf = (role: RelayRole, key: `0x${string}`) =>
      createRelay({ ...chain, role, schedule: shared.schedules[role], db, leases }, key);
    return addLazily(Object.assign(others, { db, hub, leases, clocks }), {
      rpc: () => chain.rpc,
      witness: () => chain.witness,
      relay: () => registrarPrivateKey && relayOf('registrar', registrarPrivateKey),
      guardian: () => guardianPrivateKey && createGuardian(relayOf('guardian', guardianPrivateKey), guardianPrivateKey),
      predict: () => chain.predict,
      findCreation: () => createFindCreation(chain, shared.factoryFacts),
      registryVersion: () => createRegistryVersion(chain, shared.registryFacts),
      registryCode: () => createRegistryCode(chain, shared.registryCodeFacts),
      aliases: () => createAliases({ ...chain, db }, shared.aliasFacts),
      readiness: () => createReadiness({ ...outside, db, clocks, hub, onServer: isServer(env.database) }),
      accepted: () => createAccepted(db),
    });
  };
  const files = createFiles(env.assets);
  const own = {
    ...outside,
    ...{ files, refusedDomains: createRefusedDomains(config, env.operatorFiles) },
    sha256Of: createSha256Of(env.assets, files),
    webhookFetch: env.webhookFetch ?? fetch,
    keepErasures: env.keepErasures,
    ...{ trustClientIpHeader, namesProxies: isSet(env.vars['TRUSTED_PROXIES']) },
    isolatesRequests: env.isolatesRequests ?? false,
    run: <T>(work: (ctx: Context) => Promise<T> | T): Promise<T> | T =>
      env.isolatesRequests ? runAlone(connect(copyOf(parts)), work) : work(context),
  };
  const parts = addLazily(own, {
    words: people.words,
    keys: () => createKeys(config.vaultSecret, config.attestationSigningKey),
    email: () => createEmailSender({ ...outside, mail: env.mail }),
    sms: () => createSmsProvider(outside),
    bundler: () => (bundlerUrl === undefined ? undefined : createBundler({ ...outside, url: bundlerUrl })),
    askIndexer: () => (indexerUrl === undefined ? undefined : createAskIndexer({ ...outside, url: indexerUrl })),
    notices: () => shared.notices,
    minutes: () => shared.minutes,
    doctor: () => createDoctor({ fetch, last: shared.doctor }, env.doctor),
    strangers: () => shared.strangers,
    keyNotes: () => shared.keyNotes,
    searchRange: () => shared.searchRange,
  });
  const context: Context = connect(copyOf(parts));
  return context;
}

function isSet(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}

/** The metrics with `vault_build_info` and, where the host provides them, the process's own. */
function openMetrics({ process: readProcess }: Env): Metrics {
  const metrics = createMetrics();
  startAtZero(metrics);
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
