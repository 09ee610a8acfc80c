import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AbiFunction } from 'ox';
import { openDatabase } from '../../commands/storage/database.ts';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { accountFactoryAbi } from '../../contracts/abi.ts';
import { type LibsqlServer, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { type RelayChain, startRelayChain } from '../support/candidates.ts';
import { temporaryFolder } from '../support/databases.ts';
import { openDraw } from '../support/draw.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { type LibsqlProxy, startLibsqlProxy } from '../support/hostile/libsql-proxy.ts';
import { type Receiver, startReceiver, WEBHOOK_SECRET } from '../support/receiver.ts';
import { lying } from '../support/torture/lies.ts';
import { GENEROUS, MACHINE_TIME, type Member, type Place, type RelayPlace } from '../support/torture/place.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { startMember } from './members.ts';
import { type RealPost, startPost } from './post.ts';
import { openSmallDisk, type SmallDisk } from './small-disk.ts';

/** One process on a file, two on a file, two on a libSQL server. */
export const WORLDS = ['file', 'two', 'server'] as const;

export type WorldName = (typeof WORLDS)[number];

/** Vaults, their database, and all that they depend on: all of it real. */
export interface World extends Place {
  readonly name: WorldName;
  readonly node: Forwarder;
  readonly post: RealPost;
  /** The file, where the database is one. */
  readonly file: string | undefined;
  readonly disk: SmallDisk | undefined;
  readonly libsql: { readonly proxy: LibsqlProxy; server: LibsqlServer; restart(): Promise<void> } | undefined;
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
  const node = startForwarder(chain.url);
  const receiver = lying(startReceiver(), openDraw(seed + 1), MACHINE_TIME);
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
    members.push(await startMember({ name: one, dir: join(folder.path, one), vars, binary }));
  }
  return {
    name,
    time: MACHINE_TIME,
    members,
    chain: { ...chain, relay: relayPlaceOf(chain) },
    node,
    post,
    receiver,
    file,
    hasFile: file !== undefined,
    disk,
    libsql,
    open: async () => (file ? openSqlite(file) : openDatabase({ url: libsql?.server.url ?? '', maxConnections: 2 })),
    async stop() {
      await Promise.all(members.map((member) => member.stop()));
      for (const end of ends.reverse()) await end();
    },
  };
}

function varsOf(chain: RelayChain): Record<string, string> {
  return {
    ...chain.vars,
    ...GENEROUS,
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    FOLLOWER: 'true',
    FINALITY_BLOCKS: '1',
  };
}

const GET_ADDRESS = AbiFunction.fromAbi(accountFactoryAbi, 'getAddress');

function relayPlaceOf({ rpc, factory, registry, vars }: RelayChain): RelayPlace {
  return {
    registrar: vars['REGISTRAR_DID'] ?? '',
    registry,
    async accountOf(x, y) {
      const data = AbiFunction.encodeData(GET_ADDRESS, [x, y, 0n]);
      return `0x${String(await rpc('eth_call', [{ to: factory, data }, 'latest'])).slice(26)}`;
    },
  };
}

function addressesOf(node: Forwarder, post: RealPost, receiver: Receiver): Record<string, string> {
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
