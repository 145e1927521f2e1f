// Serves kfake as Kafka 4.2 on a free port of 127.0.0.1 until SIGTERM.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"
)

func main() {
	cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.MaxVersions(kversion.V4_2_0()))
	defer cluster.Close()
	fmt.Println(cluster.ListenAddrs()[0])
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
}
