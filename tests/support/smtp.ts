/** A server that answers as told and notes what it hears. */
export interface ScriptedSmtp {
  readonly port: number;
  /** Every line of every client, in order of arrival; a mail's lines are left out. */
  readonly heard: readonly string[];
  readonly connections: { readonly open: number; readonly peak: number; readonly total: number };
  stop(): void;
}

/** An answer without its line end; `undefined` is silence, `null` hangs up. */
type Answer = string | undefined | null;

/** Its greeting is the answer to `''`, and the answer to a finished mail that to `'.'`. */
export function scriptedSmtp(answer: (line: string) => Answer | Promise<Answer>): ScriptedSmtp {
  const heard: string[] = [];
  const connections = { open: 0, peak: 0, total: 0 };
  const server = Bun.listen<{ rest: string; mail: boolean }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      async open(socket) {
        socket.data = { rest: '', mail: false };
        connections.total++;
        connections.peak = Math.max(connections.peak, ++connections.open);
        say(socket, await answer(''));
      },
      async data(socket, chunk) {
        const lines = (socket.data.rest + chunk.toString('latin1')).split('\r\n');
        socket.data.rest = lines.pop() ?? '';
        for (const line of lines) {
          if (socket.data.mail && line !== '.') continue;
          heard.push(line);
          const reply = await answer(line);
          socket.data.mail = line === 'DATA' && reply?.startsWith('354') === true;
          say(socket, reply);
        }
      },
      close: () => void connections.open--,
    },
  });
  return { port: server.port, heard, connections, stop: () => server.stop(true) };
}

/** What a server that takes everything, in the clear, answers. */
export function agreeable(line: string): string {
  if (line === '') return '220 ready';
  if (line === 'DATA') return '354 go on';
  return line.startsWith('QUIT') ? '221 bye' : '250 fine';
}

function say(socket: { write(text: string): number; end(): void }, reply: Answer): void {
  if (reply === null) socket.end();
  else if (reply !== undefined) socket.write(`${reply}\r\n`);
}
