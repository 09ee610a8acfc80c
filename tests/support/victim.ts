import { startForwarder } from './forwarder.ts';
import { type Program, startProgram } from './program.ts';

/** Where a vault is killed, told by what passes between it and its node. */
export const PLACES = ['after sign', 'after broadcast', 'after mine', 'before confirm'] as const;

type Place = (typeof PLACES)[number];

/** A vault process that is killed without warning in the middle of its work, and started again. */
export interface Victim {
  /** Where it listens now. */
  url(): string;
  /** Whether it listens: a moment after each kill it does not. */
  isUp(): boolean;
  readonly kills: Readonly<Record<Place, number>>;
  /** For so long its node does not answer; what it asks arrives all the same if only the answers are lost. */
  cutOff(ms: number, lost: 'all' | 'answers'): void;
  /** No more killing. */
  spare(): void;
  stop(): Promise<void>;
}

interface Options {
  readonly vars: Readonly<Record<string, string>>;
  readonly dir: string;
  readonly node: string;
  /** It is killed so often, at one place after the other; each occasion is taken with this chance. */
  readonly killsMax: number;
  readonly chance: number;
  /** Where it is killed first, an index of `PLACES`. */
  readonly firstPlace: number;
}

/** Starts a vault behind a proxy of its node that kills it: the vault knows nothing of either. */
export async function startVictim(options: Options): Promise<Victim> {
  const { vars, dir, node, killsMax, chance, firstPlace } = options;
  const forwarder = startForwarder(node);
  const kills: Record<Place, number> = { 'after sign': 0, 'after broadcast': 0, 'after mine': 0, 'before confirm': 0 };
  let cut: { until: number; lost: 'all' | 'answers' } = { until: 0, lost: 'all' };
  let killed = 0;
  let isSpared = false;
  let program: Program | undefined;
  let living = live();

  async function live(): Promise<void> {
    program = await startProgram({ ...vars, RPC_URL: forwarder.url }, { cwd: dir });
  }

  /** True when the process is dead. */
  async function strike(place: Place): Promise<boolean> {
    const target = program;
    const isNext = PLACES[(firstPlace + killed) % PLACES.length] === place && killed < killsMax;
    if (!target || isSpared || !isNext || Math.random() >= chance) return false;
    killed++;
    kills[place]++;
    program = undefined;
    await target.stop('SIGKILL');
    living = live();
    return true;
  }

  forwarder.trouble = async (forward, methods) => {
    const isCut = performance.now() < cut.until;
    if (isCut && cut.lost === 'all') return LOST.clone();
    const sends = methods.includes('eth_sendRawTransaction');
    if (sends && (await strike('after sign'))) return LOST.clone();
    const text = await (await forward()).text();
    if (isCut || (sends && (await strike('after broadcast')))) return LOST.clone();
    if (methods.includes('eth_getTransactionReceipt') && text.includes('"status":"0x1"')) {
      if (await strike('after mine')) return LOST.clone();
      // A moment later it has the receipt, and is about to write or has just written.
      setTimeout(() => strike('before confirm'), 8 * Math.random());
    }
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  };
  await living;
  return {
    url: () => program?.url ?? NOWHERE,
    isUp: () => program !== undefined,
    kills,
    cutOff(ms, lost) {
      cut = { until: performance.now() + ms, lost };
    },
    spare() {
      isSpared = true;
    },
    async stop() {
      isSpared = true;
      await living;
      await program?.stop();
      await forwarder.stop();
    },
  };
}

const LOST = new Response('bad gateway', { status: 502 });
const NOWHERE = 'http://127.0.0.1:1';
