import type { Arguments } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, HELP, JSON_OUTPUT } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { checkSettings, previewSettings } from './setup/settings.ts';

/** A vault that is asked longer than this is not ready. */
const ANSWER_TIMEOUT_MS = 4_000;

/** `vault health`. */
export const healthCommand: Command = {
  summary: 'asks the vault that runs here whether it is ready',
  options: [CONFIG, JSON_OUTPUT, HELP],
  usesSettings: true,
  settings: ['HOST', 'PORT'],
  examples: ['vault health --config /etc/vault/vault.env'],
  exitCodes: '0 ready, 1 not ready or not running, 2 invalid usage',
  run: health,
};

async function health(given: Arguments): Promise<number> {
  const { host, port } = checkSettings(previewSettings(given).settings);
  const url = `http://${hostToAsk(host)}:${port}/readyz`;
  const found = await ask(url);
  printAnswer(given, { url, ...found }, () => (found.ok ? '✓ ready' : `✗ not ready: ${found.problem} (${url})`));
  return found.ok ? 0 : 1;
}

async function ask(url: string): Promise<{ ok: boolean; problem: string | null }> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS), redirect: 'manual' });
    return status === 200 ? { ok: true, problem: null } : { ok: false, problem: `it answers ${status}` };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return { ok: false, problem: isLate ? 'it does not answer in time' : 'nothing answers' };
  }
}

/** An address for all of a machine's stands for this machine. */
function hostToAsk(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
