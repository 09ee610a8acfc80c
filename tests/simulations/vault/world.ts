import { type Draw, openDraw } from '../../support/draw.ts';
import * as model from '../../support/evidence/model.ts';
import { createPasskeys, EVIDENCE_VARS, type Passkeys } from '../../support/evidence/service.ts';
import { nodeVars, txOf } from '../../support/evidence/stand-in.ts';
import { newWorld, take, type World } from '../../support/evidence/world.ts';
import { WEBHOOK_SECRET } from '../../support/receiver.ts';
import { GENEROUS, type Place } from '../../support/torture/place.ts';
import { VAULT_SECRET } from '../../support/vault.ts';
import { type Disk, openDisk } from './disk.ts';
import { startMember } from './members.ts';
import { BASE_URL } from './requests.ts';
import type { VirtualTime } from './time.ts';
import { openUpstreams } from './upstreams.ts';

// What the vaults load at its first use: a file takes time that is not simulated.
import '../../../lib/ucan/curves.ts';
import '../../../lib/words/messages/en.json' with { type: 'json' };

/** Vaults in this process, and all that they depend on: none of it real. */
export interface SimulatedWorld extends Place {
  readonly time: VirtualTime;
  readonly disk: Disk;
  /** Whether the vaults ask for the database over a network. */
  readonly isServer: boolean;
  /** What the chain and people are in truth. */
  readonly truth: World;
  readonly passkeys: Passkeys;
  /** Puts back on the chain what a re-org took away of those who are not in the model: they send it again. */
  sendAgain(): void;
}

const NODE = { url: 'http://node.example' };

/** One vault or two, on a file or on a server, as the draw says. */
export async function openWorld(draw: Draw, time: VirtualTime, say: (line: string) => void): Promise<SimulatedWorld> {
  const own = () => openDraw(Number(draw.bits(31)));
  const disk = await openDisk(own());
  const [truth, passkeys] = [newWorld(model), createPasskeys(own())];
  const upstreams = openUpstreams({ draw: own(), time, world: truth, hexOf: passkeys.hexOf });
  const isServer = draw.below(2) === 0;
  const vars = { ...GENEROUS, ...EVIDENCE_VARS, ...nodeVars(NODE), ...VARS };
  const ground = { time, disk, upstreams, vars, protocol: isServer ? 'http' : undefined, say };
  const names = draw.below(4) === 0 ? ['A'] : ['A', 'B'];
  const registered: string[] = [];
  return {
    ...upstreams,
    time,
    disk,
    truth,
    passkeys,
    members: names.map((name) => startMember(name, { ...ground, draw: own() })),
    hasFile: true,
    isServer,
    chain: {
      async register({ did }) {
        registered.push(did);
        take(truth, { kind: 'mine', did, handle: null });
        return { txHash: txOf(did) };
      },
      registered: async () => ({ twice: 0 }),
      relay: undefined,
    },
    open: async () => ({ ...disk.database, close: () => undefined }),
    sendAgain() {
      for (const did of registered) if (!truth.dids.has(did)) take(truth, { kind: 'mine', did, handle: null });
    },
  };
}

const VARS = {
  VAULT_SECRET,
  OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
  BASE_URL,
  // A reader who is slower than a burst is sent back to the table, which is no gap.
  STREAM_QUEUE_EVENTS_MAX: '100000',
  // The stand-in for the node knows no logs.
  FOLLOWER: 'false',
  SMTP_URL: 'smtp://mail.example',
  WEBHOOK_URL: 'http://receiver.example/hook',
  WEBHOOK_SECRET,
  WEBHOOK_ALLOW_PRIVATE: 'true',
};
