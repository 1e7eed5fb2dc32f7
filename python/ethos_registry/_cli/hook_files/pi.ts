export default function (pi) {
  pi.on("tool_result", async (event) => {
    try {
      const answer = await ask(event)
      if (Array.isArray(answer?.content)) return { content: answer.content }
    } catch {
      // The original stays.
    }
  })
}
