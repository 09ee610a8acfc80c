import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../commands/storage/database.ts';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import type { Database } from '../../lib/db/database.ts';
import { type LibsqlServer, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { type RelayChain, startRelayChain } from '../support/candidates.ts';
import { temporaryFolder } from '../support/databases.ts';
import { openDraw } from '../support/draw.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { type LibsqlProxy, startLibsqlProxy } from '../support/hostile/libsql-proxy.ts';
import { WEBHOOK_SECRET } from '../support/receiver.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { type Member, startMember } from './members.ts';
import { type LyingReceiver, type Post, startLyingReceiver, startPost } from './outside.ts';
import { openSmallDisk, type SmallDisk } from './small-disk.ts';

/** One process on a file, two on a file, two on a libSQL server. */
export const WORLDS = ['file', 'two', 'server'] as const;

export type WorldName = (typeof WORLDS)[number];

/** Vaults, their database, and all that they depend on. */
export interface World {
  readonly name: WorldName;
  readonly members: readonly Member[];
  readonly chain: RelayChain;
  readonly node: Forwarder;
  readonly post: Post;
  readonly receiver: LyingReceiver;
  /** The file, where the database is one. */
  readonly file: string | undefined;
  readonly disk: SmallDisk | undefined;
  readonly libsql: { readonly proxy: LibsqlProxy; server: LibsqlServer; restart(): Promise<void> } | undefined;
  /** The database, for the audit. */
  open(): Promise<Database & { close(): void }>;
  stop(): Promise<void>;
}

/** As docs/operating.md says for several vaults: as it comes, this server can stop taking writes for good. */
const CHECKPOINTS = ['--checkpoint-interval-s', '5'];

/** Opens one with the program `binary`; its draws follow from the seed. */
export async function openWorld(name: WorldName, { seed, binary }: { seed: number; binary: string }): Promise<World> {
  const ends: (() => unknown)[] = [];
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const [chain, post] = await Promise.all([startRelayChain(), startPost()]);
  ends.push(chain.stop, post.stop);
  const [node, receiver] = [startForwarder(chain.url), startLyingReceiver(openDraw(seed + 1))];
  ends.push(node.stop, receiver.stop);
  const libsql = name === 'server' ? await openLibsql(folder.path) : undefined;
  if (libsql) ends.push(libsql.stop);
  const disk = name === 'server' ? undefined : openSmallDisk(join(folder.path, 'data'));
  if (disk) ends.push(disk.remove);
  const file = disk && join(disk.path, 'vault.db');
  const url = libsql?.proxy.url ?? `file:${file}`;
  const vars = { ...varsOf(chain), ...addressesOf(node, post, receiver), DATABASE_URL: url };
  const names = name === 'file' ? ['A'] : ['A', 'B'];
  // One after the other: the second finds the tables.
  const members: Member[] = [];
  for (const one of names) {
    mkdirSync(join(folder.path, one));
    members.push(await startMember({ name: one, dir: join(folder.path, one), vars: writerOf(vars, one), binary }));
  }
  return {
    name,
    members,
    chain,
    node,
    post,
    receiver,
    file,
    disk,
    libsql,
    open: async () => (file ? openSqlite(file) : openDatabase({ url: libsql?.server.url ?? '', maxConnections: 2 })),
    async stop() {
      await Promise.all(members.map((member) => member.stop()));
      for (const end of ends.reverse()) await end();
    },
  };
}

/** The first one writes by a thread of its own, the second one by its event loop. */
function writerOf(vars: Readonly<Record<string, string>>, name: string) {
  return { ...vars, DATABASE_WRITER: name === 'A' ? 'thread' : 'inline' };
}

function varsOf(chain: RelayChain): Record<string, string> {
  const MANY = '1000000000';
  return {
    ...chain.vars,
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    FOLLOWER: 'true',
    LOG_LEVEL: 'error',
    EMAIL_PROVIDER: 'smtp',
    EMAIL_FROM: 'vault@example.net',
    EMAIL_DAILY_MAX: MANY,
    // Long enough for a check that waits for a process which was stopped.
    EMAIL_CODE_EXPIRY_SECONDS: '300',
    MAX_REGISTRATIONS_PER_IP: '3',
    MAX_VERIFY_SENDS_PER_IP: '3',
    RATE_LIMIT_CODES_PER_IDENTIFIER: '5',
    RATE_LIMIT_READS_PER_IP: MANY,
    RATE_LIMIT_WRITES_PER_IP: MANY,
    RATE_LIMIT_PROXY_PER_IP: MANY,
    FINALITY_BLOCKS: '1',
  };
}

function addressesOf(node: Forwarder, post: Post, receiver: LyingReceiver): Record<string, string> {
  return {
    RPC_URL: node.url,
    SMTP_URL: post.url,
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
}

async function openLibsql(folder: string) {
  const start = async () => {
    const server = await startLibsql({ dir: join(folder, 'libsql'), more: CHECKPOINTS });
    if (!server) throw new Error('there is no libSQL server for this machine');
    return server;
  };
  const server = await start();
  const proxy = await startLibsqlProxy(server.url);
  const libsql = {
    proxy,
    server,
    async restart() {
      libsql.server = await start();
      proxy.target = libsql.server.url;
    },
    async stop() {
      proxy.stop();
      await libsql.server.stop();
    },
  };
  return libsql;
}
