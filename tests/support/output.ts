/** What a process prints up to a text; it is read on, as a full pipe would stop it. Rejects if it ends before. */
export async function outputUntil(stream: ReadableStream<Uint8Array>, wanted: string): Promise<string> {
  const said = Promise.withResolvers<void>();
  let output = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      output += decoder.decode(chunk, { stream: true });
      if (output.includes(wanted)) said.resolve();
    }
    said.reject(new Error(`it ended:\n${output}`));
  };
  void read();
  await said.promise;
  return output;
}
