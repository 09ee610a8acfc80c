import { systemClock } from '../../lib/base/clock.ts';
import { atLevel, describeError, type Log } from '../../lib/base/log.ts';
import type { Begins } from '../../lib/db/migrations.ts';
import type { OpenHost } from '../../lib/doctor/service.ts';
import type { KeepErasures } from '../../lib/person/erase.ts';
import { prepareDatabase } from '../../lib/prepare-database.ts';
import type { Vault } from '../../routes/index.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, HELP, MOST_USED_SETTINGS, VERSION_FLAG } from '../cli/options.ts';
import { operatorFiles } from '../setup/operator-files.ts';
import { checkSettings, isEmbedded, loadSettings, type Settings, usageErrorOf } from '../setup/settings.ts';
import { filePath } from '../storage/database.ts';
import type { ReadAhead } from '../storage/read-ahead.ts';
import { isServerAway } from '../storage/server.ts';
import { announce } from './announce.ts';
import { openAssets } from './assets.ts';
import { openServing, type ServingDatabase } from './database.ts';
import { createInflight } from './inflight.ts';
import { createOwnAnswer, listen, listenForAdmin, type Server } from './listen.ts';
import { createLog } from './log.ts';
import { openMailer } from './mailer.ts';
import { createProcessReader } from './process.ts';
import { drain, refuse, untilStopped } from './stop.ts';
import { createGuardedFetch } from './webhook-fetch.ts';

/** `vault serve`. */
export const serveCommand: Command = {
  summary: 'runs the vault (the default)',
  options: [CONFIG, HELP, VERSION_FLAG],
  usesSettings: true,
  settings: MOST_USED_SETTINGS,
  examples: ['vault', 'vault serve --config /etc/vault/vault.env', 'vault serve --port 9000 --data-dir /tmp/trial'],
  exitCodes: '0 stopped by SIGTERM or SIGINT, 1 cannot start or continue, 2 invalid usage',
  run: serve,
};

/** How often background work is called, and how long one turn may take. */
export const WORK_INTERVAL_MS = 1_000;
export const WORK_TURN_MS = 5_000;

/**
 * Runs the vault until a signal. Resolves with the exit code after all accepted work is done. Throws if it cannot
 * start.
 */
async function serve(given: Arguments): Promise<number> {
  const settings = await load(given);
  const print = createLog(settings.config.logFormat);
  const log = atLevel(settings.config.logLevel, print);
  for (const warning of settings.warnings) log({ level: 'warn', event: 'settings', message: warning });
  const stop = untilStopped(log);
  const inflight = createInflight();
  const ready = Promise.withResolvers<Vault>();
  // Listening comes first because `PORT=0` is known only then; requests that come meanwhile wait for the vault.
  const servers = listenAll({ config: settings.config, inflight, ready: ready.promise, log });
  const [server, adminServer] = servers;
  const answer = createOwnAnswer(settings.config);
  const serving = { servers, inflight, late: (request: Request) => answer('shutting_down', request) };
  const starting = start(settings, { port: server.port, adminPort: adminServer?.port }, log);
  const running = await Promise.race([starting, stop]).catch(async (error) => {
    await refuse(serving);
    throw error;
  });
  if (typeof running === 'number') {
    // Stopped before it had started, for instance while a remote database gave no answer.
    await refuse(serving);
    return running;
  }
  const { vault, database } = running;
  ready.resolve(vault);
  announce(running.settings, running.applied, print);
  database.startWriter();
  database.startCheck();
  const reading = startReadAhead(running.settings.config).catch(() => undefined);
  const work = startWork(vault);
  const broken = untilBroken(database, log);
  const wrong = import('./checks-after-start.ts').then(({ wrongChainError }) => wrongChainError(running.settings, log));
  const end = await Promise.race([stop, broken.ended, wrong]);
  work.stop();
  // A stream never ends by itself; its client reconnects to the next process that listens here.
  vault.endStreams();
  await drain(serving, async () => {
    await running.close();
    (await reading)?.stop();
  });
  log({ level: 'info', event: 'stopped' });
  if (end instanceof UsageError) throw end;
  return broken.isSo() ? 1 : end;
}

/** Throws settings that cannot be used with the names that may have been meant. */
async function load(given: Arguments): Promise<Settings> {
  try {
    return loadSettings(given);
  } catch (error) {
    throw (await import('../setup/warnings.ts')).withNearMisses(error);
  }
}

/** Resolves with the exit code once nothing can be written any more: a supervisor starts the vault again. */
function untilBroken(database: ServingDatabase, log: Log): { readonly ended: Promise<number>; isSo(): boolean } {
  let isBroken = false;
  const ended = database.ended.then((error) => {
    isBroken = true;
    log({ level: 'error', event: 'writer_ended', ...describeError(error) });
    return 1;
  });
  return { ended, isSo: () => isBroken };
}

interface Running {
  readonly settings: Settings;
  readonly vault: Vault;
  readonly database: ServingDatabase;
  readonly applied: number;
  close(): Promise<void>;
}

const WITHOUT_DATABASE = 'DATABASE_URL does not answer: requests that need the database get 503 until it does';

function causeOf(error: unknown): { readonly cause: string } {
  const { message, cause = message } = describeError(error);
  return { cause };
}

/** The ports that are listened on, where the settings may say 0. */
interface Ports {
  readonly port: number | undefined;
  readonly adminPort: number | undefined;
}

function listenAll(serving: Parameters<typeof listen>[0]): [Server, ...Server[]] {
  const server = listen(serving);
  try {
    const adminServer = listenForAdmin(serving);
    return adminServer ? [server, adminServer] : [server];
  } catch (error) {
    server.stop(true);
    throw error;
  }
}

/** Opens the vault's dependencies. */
async function start(given: Settings, ports: Ports, log: Log): Promise<Running> {
  // Loaded here, since other commands need no route.
  const { createVault } = await import('../../routes/index.ts');
  const settings = atPorts(given, ports);
  const { vars, config } = settings;
  const mail = await openMailer(config);
  const database = await openServing(config, log);
  const begins: Begins = ({ version, name }, left) => log({ level: 'info', event: 'migrating', version, name, left });
  const applied = await prepareDatabase(database, systemClock, config, begins).catch((error) => {
    if (isEmbedded(config.databaseUrl) || !isServerAway(error)) throw error;
    // The store makes the tables once the server answers.
    log({ level: 'warn', event: 'started_without_database', message: WITHOUT_DATABASE, ...causeOf(error) });
    return undefined;
  });
  const webhookFetch = createGuardedFetch({ allowPrivate: config.webhookAllowPrivate });
  const documentFetch = createGuardedFetch({ allowPrivate: false });
  const process = createProcessReader(database.readLog);
  const doctor: OpenHost = async (stored) => (await import('../doctor/serving.ts')).servingHost(settings, stored);
  const keepErasures: KeepErasures = async (list) =>
    (await import('../backup/erasures.ts')).noteErasures(config.dataDir, list);
  const outside = {
    assets: openAssets(),
    operatorFiles,
    webhookFetch,
    documentFetch,
    keepErasures,
    process,
    doctor,
    log,
  };
  const env = { vars, database, mail, ...outside };
  const vault = openVault(() => createVault(env, { config, isPrepared: applied !== undefined }), settings);
  return {
    settings,
    vault,
    database,
    applied: applied?.length ?? 0,
    async close() {
      await vault.close();
      await mail?.close();
      await database.close();
    },
  };
}

/** A file that a setting names may be at fault, which the vault finds as it reads it. Throws `UsageError`. */
function openVault(create: () => Vault, { sources }: Settings): Vault {
  try {
    return create();
  } catch (error) {
    throw usageErrorOf(error, sources);
  }
}

/** Reads the beginning of the embedded database into the system's memory. */
async function startReadAhead({ databaseUrl }: Settings['config']): Promise<ReadAhead | undefined> {
  if (!isEmbedded(databaseUrl)) return undefined;
  const { readAhead } = await import('../storage/read-ahead.ts');
  return readAhead(filePath(databaseUrl));
}

/** The settings with the ports that were picked where they say 0. They are read again in that case alone. */
function atPorts(settings: Settings, { port, adminPort }: Ports): Settings {
  if (port === settings.config.port && adminPort === settings.config.adminPort) return settings;
  const admin = adminPort === undefined ? {} : { ADMIN_PORT: String(adminPort) };
  const vars = { ...settings.vars, PORT: String(port), ...admin };
  return { ...settings, vars, config: checkSettings({ vars, sources: settings.sources }) };
}

/** Background work at a fixed pace: a task that waits must not keep the others from their next turn. */
function startWork(vault: Vault): { stop(): void } {
  const timer = setInterval(() => vault.work(systemClock.now() + WORK_TURN_MS), WORK_INTERVAL_MS);
  return { stop: () => clearInterval(timer) };
}
