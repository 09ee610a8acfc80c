/** The text on standard input, cut off soon after so many characters. */
export async function readInput(charsMax: number): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of process.stdin) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > charsMax) break;
  }
  return text;
}
