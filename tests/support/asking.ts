import { connect } from 'node:net';

/** The last answer on a connection, which says `Connection: close`; or that it ended without one. */
export type Last = { readonly status: number; readonly head: string; readonly body: string } | 'cut';

/** Asks over one connection, again and again, until an answer ends it; `onData` is called whenever something comes. */
export function askUntilClosed(port: number, path: string, onData = () => {}): Promise<Last> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', ask);
    let text = '';
    function ask() {
      text = '';
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    }
    socket.on('data', (data) => {
      onData();
      text += data;
      const end = text.indexOf('\r\n\r\n');
      const [head, body] = [text.slice(0, end), text.slice(end + 4)];
      if (end < 0 || !isWhole(head, body)) return;
      if (/^connection: close/im.test(head)) resolve({ status: Number(head.slice(9, 12)), head, body });
      else ask();
    });
    socket.on('error', () => resolve('cut'));
    socket.on('end', () => resolve('cut'));
  });
}

/**
 * Resolves once a program has read what came on connections before, without an answer to it: what is no HTTP is refused
 * before any handler.
 */
export function untilRead(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('no request\r\n\r\n'));
    socket.on('error', reject);
    socket.on('data', () => socket.destroy());
    socket.on('close', () => resolve());
  });
}

/** Resolves once a program listens there. */
export function untilListening(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', () => setTimeout(() => resolve(untilListening(port)), 5));
  });
}

function isWhole(head: string, body: string): boolean {
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  return length === undefined ? body.endsWith('0\r\n\r\n') : Buffer.byteLength(body) >= Number(length);
}
