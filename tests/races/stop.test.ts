import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { temporaryFolder } from '../support/databases.ts';
import { startProgram } from '../support/program.ts';
import { VAULT_SECRET } from '../support/vault.ts';

/** Asks over one connection, again and again, until an answer ends it. */
function askOn(port: number): Promise<'told' | 'cut'> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', ask);
    function ask() {
      socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    }
    let text = '';
    socket.on('data', (data) => {
      text += data;
      if (!text.includes('{"ok":true}')) return;
      if (/^connection: close/im.test(text)) resolve('told');
      else ask();
      text = '';
    });
    socket.on('error', () => resolve('cut'));
    socket.on('close', () => resolve('cut'));
  });
}

test('V13: a stop answers what busy connections have sent, and ends each with its last answer', async () => {
  const folder = temporaryFolder();
  const program = await startProgram({ VAULT_SECRET, DATA_DIR: folder.path }, { cwd: folder.path });
  try {
    const asking = Array.from({ length: 60 }, () => askOn(Number(new URL(program.url).port)));
    await Bun.sleep(300);
    const stopped = program.stop();
    const ends = await Promise.all(asking);
    expect(ends.filter((end) => end === 'cut')).toEqual([]);
    await stopped;
  } finally {
    await program.stop('SIGKILL');
    folder.remove();
  }
});
