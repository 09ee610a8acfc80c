import { connect } from 'node:net';

/** An answer as its bytes say it, header names in lower case. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Sends the lines of a request as they are to the server at `url`, and reads until the server closes. */
export function sendRaw(url: string, lines: readonly string[], body = ''): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`),
    );
    let answer = '';
    socket
      .setEncoding('utf8')
      .on('data', (chunk) => {
        answer += chunk;
      })
      .on('close', () => resolve(readReply(answer)))
      .on('error', reject);
  });
}

function readReply(answer: string): RawReply {
  const end = answer.indexOf('\r\n\r\n');
  const [line = '', ...headers] = answer.slice(0, end).split('\r\n');
  const pairs = headers.map((header) => [header.split(':')[0]?.toLowerCase(), header.replace(/^[^:]*:\s*/, '')]);
  return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(pairs), text: answer.slice(end + 4) };
}
